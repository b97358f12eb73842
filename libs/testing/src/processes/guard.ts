import { type ChildProcess, spawn } from 'node:child_process'
import type { Socket } from 'node:net'

// Reads a pipe from this process. The pipe closes however this process ends, kill -9 included. Then the script ends the
// children and deletes the folders. A `children` line lists every `signal:pid`, a `folder` line names one more folder.
const SCRIPT = `
trap '' HUP INT TERM
children= alive=
while read -r what value; do
  case $what in children) children=$value ;; folder) set -- "$@" "$value" ;; esac
done
for child in $children; do kill -s "\${child%%:*}" -- "\${child##*:}" 2>/dev/null; done
for tenth in $(seq 100); do
  alive=
  for child in $children; do kill -s 0 -- "\${child##*:}" 2>/dev/null && alive="$alive \${child##*:}"; done
  [ -z "$alive" ] && break
  sleep 0.1
done
for pid in $alive; do kill -s KILL -- "$pid" 2>/dev/null; done
for folder; do rm -rf -- "$folder"; done
`

/** The signals for children by process id. A negative one names a process group, as in kill(2). */
const guarded = new Map<number, NodeJS.Signals>()
let guard: ChildProcess | undefined

/** Makes sure that a child does not outlive this process: it gets `signal` then, and SIGKILL ten seconds later. */
export function guardChild(child: ChildProcess, signal: NodeJS.Signals): void {
  const { pid } = child
  if (pid === undefined) return
  guarded.set(pid, signal)
  tellChildren()
  // Another process may get its id.
  child.once('exit', () => {
    guarded.delete(pid)
    tellChildren()
  })
}

/** Does so with the process group that a child leads, even when the child itself has ended. */
export function guardGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return
  guarded.set(-pid, signal)
  tellChildren()
}

/** Deletes a folder when this process and its children have ended. */
export const guardFolder = (path: string): void => tell(`folder ${path}`)

const tellChildren = () =>
  tell(`children ${[...guarded].map(([pid, signal]) => `${signal.slice(3)}:${pid}`).join(' ')}`)

function tell(line: string): void {
  guard ??= startGuard()
  guard.stdin?.write(`${line}\n`)
}

function startGuard(): ChildProcess {
  const started = spawn('sh', ['-c', SCRIPT], { stdio: ['pipe', 'ignore', 'ignore'], detached: true })
  started.unref()
  // The type of a child's pipe lacks that it is a socket.
  const pipe = started.stdin as Socket
  pipe.unref()
  pipe.on('error', () => {})
  return started
}
