"""Teaches papermill to write parameters in TypeScript: assignments, as `npm run notebook` makes them."""

import json

from papermill.engines import NBClientEngine
from papermill.translators import Translator, papermill_translators


class TypeScriptTranslator(Translator):
    @classmethod
    def translate(cls, val):
        return json.dumps(val)

    @classmethod
    def comment(cls, cmt_str):
        return f"// {cmt_str}".strip()

    @classmethod
    def assign(cls, name, str_val):
        # The cell of defaults declares the names with `let`; the compiler checks the types.
        return f"{name} = {str_val};"


class Engine(NBClientEngine):
    """papermill's own engine under another name."""


papermill_translators.register("typescript", TypeScriptTranslator)
