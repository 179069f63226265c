"""Two ranks that see each other only through a network: each in a network namespace of its own.

    python3 test_ranks_over_network.py PROGRAM

Needs root, for `ip netns`; no ssh: mpirun reaches the other "node" through a script.
"""

import os
import shutil
import signal
import subprocess
import time

import program
import test_ranks

NODES = {"node-a": "10.213.77.1", "node-b": "10.213.77.2"}
SUBNET = "10.213.77.0/24"

def namespace(node):
    return f"starpmc-{os.getpid()}-{node}"

def ip(*words):
    return subprocess.run(["ip", *words], capture_output=True, text=True, check=False)

def network_missing():
    if os.getuid() != 0:
        return "network namespaces need root"
    if not shutil.which("ip") or not shutil.which("unshare"):
        return "no ip or no unshare (Debian: iproute2, util-linux)"
    return ""

class Network(test_ranks.Ranks):
    steps = 30000

    def setUp(self):
        reason = network_missing()
        if reason:
            self.skipTest(reason)
        super().setUp()
        self.connect()
        # What mpirun calls in ssh's place: AGENT HOST COMMAND...
        self.agent = self.folder / "agent"
        cases = "\n".join(
            f"  {address}) node={node} space={namespace(node)} ;;"
            for node, address in NODES.items()
        )
        self.agent.write_text(
            f"#!/bin/sh\ncase $1 in\n{cases}\n  *) exit 9 ;;\nesac\nshift\n"
            "exec ip netns exec $space unshare --uts sh -c "
            "'hostname $0 && exec sh -c \"$*\"' $node \"$@\"\n"
        )
        self.agent.chmod(0o755)

    def connect(self):
        links = [f"sp{os.getpid() % 100000}{end}" for end in "ab"]
        for node in NODES:
            added = ip("netns", "add", namespace(node))
            if added.returncode != 0:
                self.skipTest(f"no network namespaces here: {added.stderr.strip()}")
            self.addCleanup(ip, "netns", "del", namespace(node))
        added = ip("link", "add", links[0], "type", "veth", "peer", "name", links[1])
        if added.returncode != 0:
            self.skipTest(f"no pair of virtual Ethernet devices here: {added.stderr.strip()}")
        for link, (node, address) in zip(links, NODES.items(), strict=True):
            space = namespace(node)
            ip("link", "set", link, "netns", space)
            ip("-n", space, "addr", "add", f"{address}/24", "dev", link)
            ip("-n", space, "link", "set", link, "up")
            ip("-n", space, "link", "set", "lo", "up")
        self.links = links

    def start(self, ranks, *arguments, **options):
        hosts = ",".join(f"{address}:{ranks // 2}" for address in NODES.values())
        mpirun = [
            *(test_ranks.MPIRUN, *test_ranks.OPTIONS, "-np", ranks, "--host", hosts),
            *("--mca", "plm_rsh_agent", self.agent, "--mca", "btl", "tcp,self"),
            *("--mca", "btl_tcp_if_include", SUBNET, "--mca", "oob_tcp_if_include", SUBNET),
            # mpirun itself takes eight minutes to miss a node unless told otherwise.
            *("--mca", "oob_tcp_keepalive_time", 5, "--mca", "oob_tcp_keepalive_intvl", 1),
            *("--mca", "oob_tcp_keepalive_probes", 3),
            *("-x", "STARPU_HOME", "-x", "STARPU_NCPU", "-wdir", self.folder),
            program.PROGRAM,
        ]
        # The first host is mpirun's own.
        words = [self.agent, NODES["node-a"], "exec", *mpirun, *arguments]
        defaults = {
            "env": self.environment,
            "stdin": subprocess.DEVNULL,
            "stdout": subprocess.PIPE,
            "stderr": subprocess.PIPE,
            "text": True,
        }
        return subprocess.Popen([str(word) for word in words], **(defaults | options))

    def test_same(self):
        expected = self.single()
        folder = self.folder / "two-nodes"
        output, _ = self.finish(self.start(2, "run", self.input, "--output.folder", folder))
        self.assertEqual(test_ranks.results(folder), expected)
        self.assertIn("rank 0 (node-a)", output)
        self.assertIn("rank 1 (node-b)", output)

    def test_connection_lost(self):
        """The network breaks: neither side waits forever, and nothing is lost."""
        folder = self.folder / "broken"
        process = self.start(2, "run", self.input, "--output.folder", folder)
        self.wait_for_checkpoints(folder)
        ip("-n", namespace("node-b"), "link", "set", self.links[1], "down")
        _, errors = process.communicate(timeout=test_ranks.SILENCE + 90)
        self.assertNotEqual(process.returncode, 0)
        self.assertIn("lost communication with a remote daemon", errors)
        self.assertIn(f"go on with: mpirun -np 2 starpmc resume {folder}", errors)
        deadline = time.monotonic() + test_ranks.SILENCE
        while self.left_over():
            self.assertLess(time.monotonic(), deadline, "node-b goes on alone")
            time.sleep(0.5)
        self.assertEqual(self.resume_alone(folder), self.single())

    def left_over(self):
        return ip("netns", "pids", namespace("node-b")).stdout.split()

    def tearDown(self):
        for node in NODES:
            for process in ip("netns", "pids", namespace(node)).stdout.split():
                try:
                    os.kill(int(process), signal.SIGKILL)
                except ProcessLookupError:
                    pass


if __name__ == "__main__":
    program.main()
