"""Runs cells through the countlens kernel as a Jupyter client would, and prints what came back as JSON.

Input on stdin: a list of steps. {"code", "interrupt_after"?} runs a cell; {"codes"} sends several cells at once, as
"Run all" does; {"complete"} and {"inspect"} ask at the end of a text. Times are in seconds.
"""

import json
import sys
import time

from jupyter_client.manager import start_new_kernel

LONGEST = 300


def main():
    steps = json.load(sys.stdin)
    manager, client = start_new_kernel(kernel_name="countlens", startup_timeout=LONGEST)
    results = []
    try:
        for step in steps:
            results.append(run_step(manager, client, step))
    finally:
        alive = manager.is_alive()
        client.shutdown()
        deadline = time.time() + LONGEST
        while manager.is_alive() and time.time() < deadline:
            time.sleep(0.1)
        ended = not manager.is_alive()
        manager.shutdown_kernel(now=True)
    json.dump({"steps": results, "alive": alive, "ended": ended}, sys.stdout)


def run_step(manager, client, step):
    if "complete" in step:
        ident = client.complete(step["complete"], len(step["complete"]))
        return reply_to(client, ident)["matches"]
    if "inspect" in step:
        ident = client.inspect(step["inspect"], len(step["inspect"]))
        return reply_to(client, ident)["data"]
    codes = step.get("codes") or [step["code"]]
    idents = [client.execute(code) for code in codes]
    if "interrupt_after" in step:
        wait_for_output(client, "ready")
        time.sleep(step["interrupt_after"])
        manager.interrupt_kernel()
    outputs = collect(client, idents)
    cells = []
    for ident in idents:
        reply = reply_to(client, ident)
        cells.append({"status": reply["status"], "count": reply.get("execution_count"), **outputs[ident]})
    return cells if "codes" in step else cells[0]


def reply_to(client, ident):
    while True:
        message = client.get_shell_msg(timeout=LONGEST)
        if message["parent_header"].get("msg_id") == ident:
            return message["content"]


def wait_for_output(client, text):
    while True:
        message = client.get_iopub_msg(timeout=LONGEST)
        if message["msg_type"] == "stream" and text in message["content"]["text"]:
            return


def collect(client, idents):
    """Everything the cells put out until the last of them is idle; output of other cells is kept as `stray`."""
    outputs = {ident: {"text": "", "error": None, "data": [], "stray": []} for ident in idents}
    waiting = set(idents)
    while waiting:
        message = client.get_iopub_msg(timeout=LONGEST)
        ident, kind, content = message["parent_header"].get("msg_id"), message["msg_type"], message["content"]
        if kind == "status":
            if content["execution_state"] == "idle":
                waiting.discard(ident)
        elif ident not in outputs:
            for output in outputs.values():
                output["stray"].append(kind)
        elif kind == "stream":
            outputs[ident]["text"] += content["text"]
        elif kind == "error":
            outputs[ident]["error"] = content
        elif kind in ("display_data", "execute_result"):
            outputs[ident]["data"].append(content["data"])
    return outputs


main()
