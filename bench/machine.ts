import { cpus } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'

const SAMPLE_MS = 2000

/** The machine, and the share of its cores that others use now: figures of a busy machine say little. */
export async function machine() {
  const before = ticks()
  await pause(SAMPLE_MS)
  const after = ticks()
  const busyShare = 1 - (after.idle - before.idle) / (after.all - before.all)
  return { cores: cpus().length, cpu: cpus()[0]?.model, node: process.version, busyShare }
}

function ticks() {
  const times = cpus().map(({ times }) => times)
  const all = times.flatMap((one) => Object.values(one)).reduce((sum, part) => sum + part, 0)
  return { idle: times.reduce((sum, { idle }) => sum + idle, 0), all }
}
