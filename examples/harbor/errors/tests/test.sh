#!/bin/sh
# The expected file is here, where the agent never is.
printf 'auth 1\nmail 1\nweb 2\n' > /tmp/expected
if cmp -s /app/errors.txt /tmp/expected; then
  echo 1 > /logs/verifier/reward.txt
else
  echo 0 > /logs/verifier/reward.txt
fi
