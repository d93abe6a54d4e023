"""Logs to Weights & Biases with its own client. Reads requests as lines of JSON and answers each with a line of JSON."""
import json
import os
import sys

answers = os.fdopen(os.dup(1), "w", buffering=1)
# wandb prints to standard output, which belongs to the answers.
os.dup2(2, 1)


def answer(**fields):
    answers.write(json.dumps(fields) + "\n")


def begin(request):
    import wandb

    run = wandb.init(
        project=os.environ.get("WANDB_PROJECT") or "toolenv",
        name=request["name"],
        dir=request["folder"],
        config=request["config"],
        id=request.get("id"),
        resume="allow",
        settings=wandb.Settings(console="off", silent=True),
    )
    # A resumed run repeats steps, which wandb's own counter refuses.
    run.define_metric("*", step_metric="train/global_step")
    return run


def main():
    run = None
    for line in sys.stdin:
        request = json.loads(line)
        try:
            if "begin" in request:
                run = begin(request["begin"])
                answer(id=run.id)
            elif "log" in request:
                for event in request["log"]:
                    run.log({**event["metrics"], "train/global_step": event["step"]})
                answer(ok=True)
            elif "finish" in request:
                run.finish(exit_code=0 if request["finish"] == "finished" else 1)
                answer(ok=True)
                return
        except Exception as error:
            answer(error=f"{type(error).__name__}: {error}")
    # The other process has ended without a word.
    if run is not None:
        run.finish(exit_code=1)


try:
    import wandb  # noqa: F401
except ImportError as error:
    answer(missing=str(error))
    sys.exit(1)
main()
