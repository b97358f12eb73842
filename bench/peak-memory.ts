import { existsSync, readFileSync, writeFileSync } from 'node:fs'

/**
 * The peak of resident memory of a process since the last call for it, in bytes; NaN without /proc. See
 * proc_pid_status(5) and proc_pid_clear_refs(5).
 */
export function peakMemory(pid: number): number {
  if (!existsSync(`/proc/${pid}/status`)) return Number.NaN
  const kib = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  writeFileSync(`/proc/${pid}/clear_refs`, '5')
  return Number(kib) * 1024
}
