"""Writes events.tfevents as TensorBoard's own code does: pip install tensorboard==2.21.0, then run this here."""
import tensorboard.summary.writer.record_writer as record_writer
from tensorboard.compat.proto.event_pb2 import Event, SessionLog
from tensorboard.compat.proto.summary_pb2 import Summary

wall_time = 1_750_000_000.25


def value(tag, number):
    return Summary.Value(tag=tag, simple_value=number)


events = [
    Event(wall_time=wall_time, file_version="brain.Event:2"),
    Event(wall_time=wall_time, step=3, session_log=SessionLog(status=SessionLog.START)),
    Event(wall_time=wall_time, step=3, summary=Summary(value=[value("rollout/reward", 0.5), value("critic/values/mean", 0)])),
    Event(wall_time=wall_time, step=300, summary=Summary(value=[value("update/loss", -1.25)])),
]
with open("events.tfevents", "wb") as file:
    writer = record_writer.RecordWriter(file)
    for event in events:
        writer.write(event.SerializeToString())
    writer.flush()
