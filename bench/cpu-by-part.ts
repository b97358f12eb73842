import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { StackDescription } from '@backoffice/local/stack-file.ts'
import postgres from 'postgres'
import { secondsOf } from './cpu-time.ts'

/** CPU seconds by part of a stack: services, their connections to PostgreSQL ("pg"), those of relays, Kafka, others. */
export type CpuByPart = ReadonlyMap<string, number>

/** User and system seconds of processes so far. */
interface Reading {
  readonly postgres: number
  readonly backends: ReadonlyMap<number, { readonly part: string; readonly seconds: number }>
  readonly others: CpuByPart
}

/** Reads the CPU time of a stack's processes. It has a connection until `stop`. */
export async function openCpu(directory: string, description: () => StackDescription) {
  const sql = postgres(description().postgres, { max: 1 })
  const { children }: { children: { name: string; pid: number }[] } = JSON.parse(
    readFileSync(join(directory, 'running.json'), 'utf8'),
  )
  const pidOf = (name: string) => children.find((child) => child.name === name)?.pid ?? 0
  const read = async (): Promise<Reading> => {
    const backends = await sql<{ pid: number; role: string; application: string }[]>`
      select pid, usename as role, application_name as application from pg_stat_activity
      where backend_type = 'client backend'`
    const services = Object.entries(description().services)
    return {
      postgres: secondsOf(pidOf('postgres')),
      backends: new Map(
        backends.map(({ pid, role, application }) => [
          pid,
          { part: partOf(role, application), seconds: secondsOf(pid) || 0 },
        ]),
      ),
      others: new Map([
        ...services.map(([name, { pid }]) => [name, secondsOf(pid)] as const),
        ['Kafka', secondsOf(pidOf('kafka'))] as const,
      ]),
    }
  }
  return { read, stop: () => sql.end() }
}

function partOf(role: string, application: string): string {
  if (application.includes('relay')) return 'relays pg'
  return `${role.replace(/_worker$/, '').replace('_', '-')} pg`
}

/** What a stack used between two readings, in CPU seconds. The server's own share has what ended backends used, too. */
export function cpuBetween(before: Reading, after: Reading): CpuByPart {
  const used = new Map<string, number>()
  const add = (part: string, seconds: number) => used.set(part, (used.get(part) ?? 0) + seconds)
  for (const [part, seconds] of after.others) add(part, seconds - (before.others.get(part) ?? 0))
  add('pg itself', after.postgres - before.postgres)
  for (const [pid, { part, seconds }] of after.backends) {
    const since = seconds - (before.backends.get(pid)?.seconds ?? 0)
    add(part, since)
    add('pg itself', -since)
  }
  return used
}

/** CPU seconds by part without what the parts need at rest (in seconds a second) in that time. */
export const beyondRest = (used: CpuByPart, atRest: CpuByPart, seconds: number): CpuByPart =>
  new Map([...used].map(([part, all]) => [part, all - (atRest.get(part) ?? 0) * seconds]))

/** The sum over all parts. Throws when a part is not a number: it does not run on this machine. */
export function sumOf(cpu: CpuByPart): number {
  const sum = [...cpu.values()].reduce((all, seconds) => all + seconds, 0)
  if (!Number.isFinite(sum)) throw new Error('the CPU time of a process cannot be read: run the stack on this machine')
  return sum
}
