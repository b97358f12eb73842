import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const TICKS_A_SECOND = 100

/** CPU seconds of processes of a stack, and of the receiver. */
export type CpuTime = Readonly<Record<'webhook-delivery' | 'postgres' | 'kafka' | 'receiver', number>>

/** User and system seconds so far; NaN for a process that does not run on this machine, or without /proc. */
export function cpuTime(directory: string, receiver: number): CpuTime {
  const { children } = JSON.parse(readFileSync(join(directory, 'running.json'), 'utf8'))
  const pids = new Map(children.map(({ name, pid }: { name: string; pid: number }) => [name, pid]))
  const of = (name: string) => secondsOf(Number(pids.get(name)))
  return {
    'webhook-delivery': of('webhook-delivery'),
    postgres: of('postgres'),
    kafka: of('kafka'),
    receiver: secondsOf(receiver),
  }
}

/** CPU seconds of a process and all its children, ended ones included; NaN without /proc. */
export function secondsOf(pid: number): number {
  const own = statOf(pid)
  if (own === undefined) return Number.NaN
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => statOf(Number(name)))
    .filter((stat) => stat?.parent === pid)
  return [own, ...children].reduce((sum, stat) => sum + (stat?.ticks ?? 0), 0) / TICKS_A_SECOND
}

/** See proc_pid_stat(5); the name is in parentheses and may contain any character. */
function statOf(pid: number): { parent: number; ticks: number } | undefined {
  const text = textOf(`/proc/${pid}/stat`)
  if (text === undefined) return undefined
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return { parent: Number(fields[1]), ticks: fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0) }
}

/** Undefined for a process that has ended, and without /proc. */
function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}
