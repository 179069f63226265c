"""A strict reader of the part of Paje's trace format that starpmc writes, made from the format's
description (Schnorr, Stein, Kergommeaux: Paje trace file format), not from the writer."""

import re

DEFINITION = re.compile(r"%EventDef (Paje\w+) (\d+)$")
FIELD = re.compile(r"% (\w+) (int|double|date|string|color|hex)$")
TOKEN = re.compile(r'"([^"]*)"|(\S+)')
COLOUR = re.compile(r"(0|1|0\.\d+|1\.0*) (0|1|0\.\d+|1\.0*) (0|1|0\.\d+|1\.0*)$")
OBLIGATORY = {
    "PajeDefineContainerType": {"Alias", "Type", "Name"},
    "PajeDefineStateType": {"Alias", "Type", "Name"},
    "PajeDefineEntityValue": {"Alias", "Type", "Name", "Color"},
    "PajeCreateContainer": {"Time", "Alias", "Type", "Container", "Name"},
    "PajeDestroyContainer": {"Time", "Type", "Name"},
    "PajeSetState": {"Time", "Type", "Container", "Value"},
}


class Trace:
    """container_types, state_types, values, containers: alias -> event; states: all SetStates."""

    def __init__(self, path):
        self.definitions = {}
        self.container_types = {"0": None}
        self.state_types = {}
        self.values = {}
        self.containers = {"0": None}
        self.alive = set()
        self.states = []
        self.time = 0.0
        definition = None
        with open(path, encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                assert line.endswith("\n"), f"line {number} is cut short"
                line = line[:-1]
                if line.startswith("%"):
                    definition = self.define(definition, line)
                elif line and not line.startswith("#"):
                    assert definition is None, f"line {number}: event within a definition"
                    self.event(number, line)
        assert definition is None
        assert not self.alive, f"not destroyed: {self.alive}"

    def define(self, current, line):
        if current is None:
            name, number = DEFINITION.match(line).groups()
            assert name in OBLIGATORY, name
            assert number not in self.definitions, f"event {number} defined twice"
            return (name, number, [])
        name, number, fields = current
        if line == "%EndEventDef":
            names = [field for field, _ in fields]
            assert len(set(names)) == len(names), fields
            assert set(names) >= OBLIGATORY[name], (name, fields)
            self.definitions[number] = (name, fields)
            return None
        fields.append(FIELD.match(line).groups())
        return current

    def event(self, number, line):
        tokens = [quoted or plain for quoted, plain in TOKEN.findall(line)]
        assert TOKEN.sub("", line).strip() == "", f"line {number}: {line}"
        name, fields = self.definitions[tokens[0]]
        assert len(tokens) == len(fields) + 1, f"line {number}: {line}"
        event = dict(zip((field for field, _ in fields), tokens[1:], strict=True))
        for field, kind in fields:
            if kind == "date":
                event[field] = float(event[field])
            elif kind == "color":
                assert COLOUR.match(event[field]), f"line {number}: {event[field]}"
        if "Time" in event:
            assert event["Time"] >= self.time, f"line {number}: time goes back"
            self.time = event["Time"]
        getattr(self, name)(event)

    def PajeDefineContainerType(self, event):
        assert event["Type"] in self.container_types
        assert event["Alias"] not in self.container_types
        self.container_types[event["Alias"]] = event

    def PajeDefineStateType(self, event):
        assert event["Type"] in self.container_types
        self.state_types[event["Alias"]] = event

    def PajeDefineEntityValue(self, event):
        assert event["Type"] in self.state_types
        assert event["Alias"] not in self.values
        self.values[event["Alias"]] = event

    def PajeCreateContainer(self, event):
        kind = self.container_types[event["Type"]]
        parent = self.containers[event["Container"]]
        assert kind["Type"] == (parent["Type"] if parent else "0")
        assert event["Alias"] not in self.containers
        self.containers[event["Alias"]] = event
        self.alive.add(event["Alias"])

    def PajeDestroyContainer(self, event):
        assert self.containers[event["Name"]]["Type"] == event["Type"]
        self.alive.remove(event["Name"])

    def PajeSetState(self, event):
        assert event["Container"] in self.alive
        kind = self.state_types[event["Type"]]
        assert kind["Type"] == self.containers[event["Container"]]["Type"]
        assert self.values[event["Value"]]["Type"] == event["Type"]
        self.states.append(event)
