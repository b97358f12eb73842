import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const TICKS_A_SECOND = 100

const NAMES = ['webhook-delivery', 'postgres', 'kafka', 'receiver'] as const

/** CPU seconds of processes of a stack, and of the receiver. */
export type CpuTime = Readonly<Record<(typeof NAMES)[number], number>>

/** User and system seconds so far; NaN for a process that does not run on this machine, or without /proc. */
export function cpuTime(directory: string, receiver: number): CpuTime {
  const { children } = JSON.parse(readFileSync(join(directory, 'running.json'), 'utf8'))
  const pids = new Map<string, number>(children.map(({ name, pid }: { name: string; pid: number }) => [name, pid]))
  pids.set('receiver', receiver)
  return byName((name) => secondsOf(Number(pids.get(name))))
}

/** CPU milliseconds per delivery, of so many deliveries between two times. */
export const cpuBetween = (before: CpuTime, after: CpuTime, deliveries: number): CpuTime =>
  byName((name) => ((after[name] - before[name]) * 1000) / deliveries)

const byName = (of: (name: keyof CpuTime) => number) =>
  Object.fromEntries(NAMES.map((name) => [name, of(name)])) as CpuTime

/** The CPU time of the service and its stores. */
export const totalOf = ({ 'webhook-delivery': service, postgres, kafka }: CpuTime): number => service + postgres + kafka

/** CPU milliseconds of the service and its stores, as text. */
export function storesIncluded(cpu: CpuTime): string {
  const parts = [cpu['webhook-delivery'], cpu.postgres, cpu.kafka].map((part) => part.toFixed(2)).join(' + ')
  return `${parts} = ${totalOf(cpu).toFixed(2)} ms`
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
