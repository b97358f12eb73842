import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/**
 * The start time and the command line of a process: a later process with the same id differs in them. Undefined when
 * there is no such process.
 */
export function processIdentity(pid: number): string | undefined {
  if (process.platform !== 'linux') return ps(pid, 'lstart=,command=') || undefined
  const [state, ...fields] = procStat(pid)
  if (state === undefined || state === 'Z') return undefined
  return `${fields[18]} ${readProc(pid, 'cmdline').replaceAll('\0', ' ').trim()}`
}

/** The seconds that a process has computed; 0 when there is no such process. */
export function cpuSeconds(pid: number): number {
  if (process.platform === 'linux') {
    const [user = 0, system = 0] = procStat(pid).slice(11, 13).map(Number)
    return (user + system) / TICKS_PER_SECOND
  }
  // days-hours:minutes:seconds
  const parts = ps(pid, 'cputime=').split(/[:-]/).map(Number).reverse()
  return parts.reduce((sum, part, place) => sum + part * ([1, 60, 3600, 86_400][place] ?? 0), 0)
}

/** What a process waits for in the kernel, as `S do_epoll_wait`, or `T do_signal_stop`; empty where that is unknown. */
export function waitsFor(pid: number): string {
  if (process.platform !== 'linux') return ''
  return `${procStat(pid)[0] ?? ''} ${readProc(pid, 'wchan')}`.trim()
}

/** Of the times in /proc, on every platform that Node runs on. */
const TICKS_PER_SECOND = 100

/** The fields of /proc/<pid>/stat after the name, which may have spaces; none when there is no such process. */
function procStat(pid: number): string[] {
  const stat = readProc(pid, 'stat')
  return stat === '' ? [] : stat.replace(/^.*\) /s, '').split(' ')
}

function readProc(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return ''
  }
}

const ps = (pid: number, format: string): string =>
  spawnSync('ps', ['-o', format, '-p', String(pid)], { encoding: 'utf8' }).stdout.trim()
