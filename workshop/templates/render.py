"""Renders chat templates as transformers does. Reads JSON lines: first {"date", "variables": [...]}, then a template's text in each line.
Writes for each template a line with {"text"} or {"error"} for each of the variables."""

import datetime
import json
import sys

from transformers.utils import chat_template_utils

settings = json.loads(sys.stdin.readline())


class Fixed(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return datetime.datetime.fromisoformat(settings["date"])


chat_template_utils.datetime = Fixed

for line in sys.stdin:
    source = json.loads(line)
    views = []
    for variables in settings["variables"]:
        try:
            # A template keeps nothing between renderings.
            template = chat_template_utils._compile_jinja_template(source)
            # As template.render, which would rewrite the long traceback of each template that calls itself for ever.
            views.append({"text": "".join(template.root_render_func(template.new_context(variables)))})
        except Exception as error:
            views.append({"error": f"{type(error).__name__}: {error}"})
    print(json.dumps(views, ensure_ascii=True), flush=True)
