"""Writes answer-score.json: the scores of HotpotQA's own script for some pairs of answers.

Usage: python answer-score.py PATH/TO/hotpot_evaluate_v1.py > answer-score.json
The script is from https://github.com/hotpotqa/hotpot, commit 4c0fa5ea6541391ab86170c2f9c57eb87776ad16.
"""
import importlib.util
import json
import sys
import types

sys.modules.setdefault("ujson", types.ModuleType("ujson"))
spec = importlib.util.spec_from_file_location("official", sys.argv[1])
official = importlib.util.module_from_spec(spec)
spec.loader.exec_module(official)

PAIRS = [
    ("Silver Harbour", "Silver Harbour"),
    ("the Silver Harbour", "Silver harbour."),
    ("Silver", "Silver Harbour"),
    ("Silver Harbour city of silver", "Silver Harbour"),
    ("silver silver", "silver harbour"),
    ("Harbour Silver", "Silver Harbour"),
    ("yes", "yes"),
    ("Yes.", "yes"),
    ("yes it is", "yes"),
    ("no", "yes"),
    ("no", "no way"),
    ("noanswer", "Silver Harbour"),
    ("an apple a day", "apple day"),
    ("", "Silver Harbour"),
    ("the", "a"),
    ("The", "Silver"),
    ("U.S.A.", "usa"),
    ("rock-and-roll", "rock and roll"),
    ("  many \t blanks \n here ", "many blanks here"),
    ("theatre", "atre"),
    ("\u00e9a the caf\u00e9", "\u00e9 caf\u00e9"),
    ("\u00e0 la carte", "a la carte"),
    ("Jos\u00e9 an", "jos\u00e9"),
    ("1,776", "1776"),
    ("New York City, New York", "New York"),
    ("a_b the_c", "ab thec"),
]
rows = []
for prediction, gold in PAIRS:
    rows.append(
        {
            "prediction": prediction,
            "gold": gold,
            "normalized": official.normalize_answer(prediction),
            "em": int(official.exact_match_score(prediction, gold)),
            "f1": official.f1_score(prediction, gold)[0],
        }
    )
print("[\n" + ",\n".join("  " + json.dumps(row) for row in rows) + "\n]")
