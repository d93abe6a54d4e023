"""Settings of GRPOConfig that every comparison with TRL has."""

settings = dict(
    # As in trainer-grpo.
    lr_scheduler_type="constant",
    weight_decay=0.0,
    max_grad_norm=1.0,
    loss_type="dapo",
    scale_rewards="group",
    epsilon=0.2,
    shuffle_dataset=False,
    # The fastest settings for a small model in float32 on the CPU.
    use_cpu=True,
    bf16=False,
    gradient_checkpointing=False,
    dataloader_pin_memory=False,
    save_strategy="no",
    logging_strategy="no",
    report_to="none",
    disable_tqdm=True,
)
