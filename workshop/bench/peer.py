"""Shared by the peers that run a model."""

import exchange
import torch
import transformers
from transformers import Qwen2Config, Qwen2ForCausalLM

transformers.logging.set_verbosity_error()
versions = {"torch": torch.__version__, "transformers": transformers.__version__}


def read_shape():
    """Reads the sizes from the first line, and sets the number of threads and the device."""
    request = exchange.read_request()
    torch.set_num_threads(request["threads"])
    if request["device"] == "gpu":
        if not torch.cuda.is_available():
            raise SystemExit("This PyTorch cannot use a GPU.")
        torch.set_default_device("cuda")
    global autocast, is_bfloat16
    is_bfloat16 = request.get("precision") == "bfloat16"
    autocast = torch.autocast(request["device"].replace("gpu", "cuda"), torch.bfloat16, is_bfloat16)
    return request["shape"]


def random_model(shape):
    torch.manual_seed(1)
    config = Qwen2Config(
        vocab_size=shape["vocabulary"],
        hidden_size=shape["width"],
        intermediate_size=shape["inner"],
        num_hidden_layers=shape["layers"],
        num_attention_heads=shape["heads"],
        num_key_value_heads=shape["keyValueHeads"],
        max_position_embeddings=1024,
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=None,
    )
    return Qwen2ForCausalLM(config).float()


def serve(run_round):
    def finished_round():
        run_round()
        if torch.cuda.is_initialized():
            torch.cuda.synchronize()

    exchange.serve(finished_round, versions)


def serve_steps(model, shape, loss_of):
    """Serves optimizer steps on the loss that `loss_of()` computes, after two steps to warm up."""
    trained = [p for p in model.parameters() if p.requires_grad]
    matrices = [p for p in trained if p.ndim >= 2]
    others = [p for p in trained if p.ndim < 2]
    optimizer = torch.optim.AdamW(
        [{"params": matrices, "weight_decay": 0.01}, {"params": others, "weight_decay": 0.0}], lr=1e-4, fused=True
    )

    def run(steps):
        for _ in range(steps):
            with autocast:
                loss = loss_of()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(trained, 1.0)
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)

    run(2)
    serve(lambda: run(shape["steps"]))
