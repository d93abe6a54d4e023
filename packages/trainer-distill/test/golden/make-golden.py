"""Makes advantages.json: the advantages of distillation, and the mean reverse KL and agreement, by numpy in float64.

Run `python make-golden.py` with numpy, then `npx biome format --write .` here.
"""

import json
from pathlib import Path

import numpy as np

rng = np.random.default_rng(7)
B, T = 4, 6
student = np.float32(np.minimum(-3 * rng.random((B, T)) - 0.01, 0)).astype(float)
teacher = np.float32(np.minimum(student + 2 * rng.standard_normal((B, T)), -1e-3)).astype(float)
mask = np.array([[0, 1, 1, 0, 1, 1], [0, 1, 1, 1, 0, 0], [0, 0, 1, 0, 1, 0], [0, 0, 0, 0, 1, 1]])
rewards = np.array([1.0, 0.0, 0.25, 0.25])  # Of the episodes, which are the rows: two groups of two.
groups = np.array([0, 0, 1, 1])


def group_advantages(scores):
    """(R - mean) / std of the group, with the unbiased deviation; 0 if it is 0."""
    advantages = np.zeros_like(scores)
    for group in np.unique(groups):
        members = groups == group
        centred = scores[members] - scores[members].mean()
        deviation = scores[members].std(ddof=1)
        advantages[members] = centred / (deviation + 1e-6) if deviation > 0 else 0
    return advantages


def case(teacher_coefficient, reward_coefficient, clamp):
    reverse_kl = np.clip(student - teacher, -clamp, clamp)
    advantages = reward_coefficient * group_advantages(rewards)[:, None] - teacher_coefficient * reverse_kl
    options = {"teacherCoefficient": teacher_coefficient, "rewardCoefficient": reward_coefficient, "klClamp": clamp}
    return {"options": options, "advantages": (advantages * mask).tolist()}


seen = mask == 1  # Both estimates are of the unclamped difference.
golden = {
    "student": student.tolist(),
    "teacher": teacher.tolist(),
    "mask": mask.tolist(),
    "rewards": rewards.tolist(),
    "groups": groups.tolist(),
    "reverseKl": float((student - teacher)[seen].mean()),
    "agreement": float(np.minimum(1, np.exp(teacher - student))[seen].mean()),
    "cases": [case(1.0, 0.0, 10.0), case(0.5, 0.0, 1.0), case(1.0, 1.0, 10.0), case(0.3, 2.0, 1.5), case(0.0, 1.0, 10.0)],
}
(Path(__file__).parent / "advantages.json").write_text(json.dumps(golden))
