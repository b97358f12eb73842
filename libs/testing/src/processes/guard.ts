import { type ChildProcess, spawn } from 'node:child_process'

// Reads a pipe from this process. The pipe closes however this process ends, kill -9 included. Then the script ends the
// children and deletes the folder. A `children` line lists every `signal:pid`, a `folder` line names the folder.
const SCRIPT = `
trap '' HUP INT TERM
children= folder= alive=
while read -r what value; do
  case $what in children) children=$value ;; folder) folder=$value ;; esac
done
for child in $children; do kill -s "\${child%%:*}" -- "\${child##*:}" 2>/dev/null; done
for tenth in $(seq 100); do
  alive=
  for child in $children; do kill -s 0 -- "\${child##*:}" 2>/dev/null && alive="$alive \${child##*:}"; done
  [ -z "$alive" ] && break
  sleep 0.1
done
for pid in $alive; do kill -s KILL -- "$pid" 2>/dev/null; done
[ -z "$folder" ] || rm -rf -- "$folder"
`

const guarded = new Map<number, string>()
let guard: ChildProcess | undefined

/**
 * Makes sure that a child does not outlive this process: it gets `signal` then, and SIGKILL ten seconds later.
 * A negative pid names a process group, as in kill(2).
 */
export function guardChild(pid: number, signal: NodeJS.Signals): void {
  guarded.set(pid, signal.slice('SIG'.length))
  tellChildren()
}

/** To be called when a guarded child has ended: another process may get its id. */
export function unguardChild(pid: number): void {
  guarded.delete(pid)
  tellChildren()
}

/** Deletes a folder when this process and its children have ended. */
export const guardFolder = (path: string): void => tell(`folder ${path}`)

const tellChildren = () => tell(`children ${[...guarded].map(([pid, signal]) => `${signal}:${pid}`).join(' ')}`)

function tell(line: string): void {
  guard ??= startGuard()
  guard.stdin?.write(`${line}\n`)
}

function startGuard(): ChildProcess {
  const started = spawn('sh', ['-c', SCRIPT], { stdio: ['pipe', 'ignore', 'ignore'], detached: true })
  started.unref()
  const pipe = started.stdin as typeof started.stdin & { unref?: () => void }
  pipe.unref?.()
  pipe.on('error', () => {})
  return started
}
