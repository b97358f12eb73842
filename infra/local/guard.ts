import { type ChildProcess, spawn } from 'node:child_process'

// Holds the other end of a pipe to this process, and acts when that pipe closes, which it does however this process
// dies, kill -9 included. `children` lines carry the whole list of `signal:pid`, a `folder` line what to delete then.
const SCRIPT = `
trap '' HUP INT TERM
children= folder= alive=
while read -r what value; do
  case $what in children) children=$value ;; folder) folder=$value ;; esac
done
for child in $children; do kill -s "\${child%%:*}" "\${child##*:}" 2>/dev/null; done
for tenth in $(seq 100); do
  alive=
  for child in $children; do kill -0 "\${child##*:}" 2>/dev/null && alive="$alive \${child##*:}"; done
  [ -z "$alive" ] && break
  sleep 0.1
done
for pid in $alive; do kill -s KILL "$pid" 2>/dev/null; done
[ -z "$folder" ] || rm -rf -- "$folder"
`

const guarded = new Map<number, string>()
let guard: ChildProcess | undefined

/** Makes sure that a child does not outlive this process: it gets `signal` then, and SIGKILL ten seconds later. */
export function guardChild(pid: number, signal: NodeJS.Signals): void {
  guarded.set(pid, signal.slice('SIG'.length))
  tellChildren()
}

/** Ends the watch over a child that is gone. */
export function forgetChild(pid: number): void {
  guarded.delete(pid)
  tellChildren()
}

/** Makes sure that a folder does not outlive this process and its children. */
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
