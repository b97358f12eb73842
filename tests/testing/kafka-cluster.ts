import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { eventually } from '@backoffice/testing/eventually.ts'

import { type Admin, withAdmin } from './kafka-admin.ts'

type Partition = Awaited<ReturnType<Admin['fetchTopicMetadata']>>['topics'][number]['partitions'][number]

/** Waits until something is true of every partition. */
async function untilPartitions(
  what: string,
  brokers: readonly string[],
  isTrue: (partition: Partition) => boolean,
  withinMs: number,
): Promise<void> {
  await withAdmin(brokers, async (admin) => {
    const areAll = async () => {
      // Each answer is large: the machine is to have time for the servers that start.
      await pause(500)
      const { topics } = await admin.fetchTopicMetadata()
      return topics.flatMap(({ partitions }) => partitions).every(isTrue)
    }
    await eventually(what, areAll, withinMs)
  })
}

/** Waits until every copy of every partition is in sync again. */
export const untilInSync = (brokers: readonly string[], withinMs: number) =>
  untilPartitions('all copies are in sync', brokers, ({ isr, replicas }) => isr.length === replicas.length, withinMs)

/** Waits until a server leads no partition any more. */
export const untilLedByOthers = (brokers: readonly string[], id: number, withinMs: number) =>
  untilPartitions('others lead', brokers, ({ leader }) => leader >= 0 && leader !== id, withinMs)

/** The server that is the controller now, by what the servers have logged. */
export function controllerOf<Server extends { readonly log: string }>(servers: readonly Server[]): Server | undefined {
  const epochOf = ({ log }: Server) => {
    const became = readFileSync(log, 'utf8').matchAll(/Becoming the active controller at epoch (\d+)/g)
    return Math.max(-1, ...[...became].map(([, epoch]) => Number(epoch)))
  }
  return servers.toSorted((one, other) => epochOf(other) - epochOf(one))[0]
}
