"""Runs a notebook through nbclient with its own kernel; prints its errors, and the MIME types put out, as JSON."""

import json
import sys

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError


def main():
    path = json.load(sys.stdin)["path"]
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    client = NotebookClient(notebook, timeout=1200, startup_timeout=300, kernel_name="countlens")
    failure = None
    try:
        client.execute()
    except CellExecutionError as error:
        failure = str(error)[-3000:]
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    types = sorted({kind for output in outputs for kind in output.get("data", {})})
    nbformat.validate(notebook)
    json.dump({"failure": failure, "types": types, "outputs": len(outputs)}, sys.stdout)


main()
