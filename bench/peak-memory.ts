import { existsSync, readFileSync, writeFileSync } from 'node:fs'

/**
 * The most resident memory a process has had since this was last called for it, in bytes; NaN where there is no /proc. See
 * proc_pid_status(5) and proc_pid_clear_refs(5).
 */
export function peakMemory(pid: number): number {
  if (!existsSync(`/proc/${pid}/status`)) return Number.NaN
  const kib = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  writeFileSync(`/proc/${pid}/clear_refs`, '5')
  return Number(kib) * 1024
}
