import { retry } from '@backoffice/runtime/retry.ts'
import type { Admin } from 'kafkajs'
import type { Kafka, Position } from './kafka-connection.ts'
import type { ReconnectingClient } from './reconnecting-client.ts'

const LEADER_TRIES = 10
const LEADER_PAUSE_MS = 100

/** What a connection asks of brokers about offsets. `prefix` is before the names of topics and groups. */
export const offsetRequests = (
  admin: ReconnectingClient<Admin>,
  prefix: string,
): Pick<Kafka, 'positions' | 'offsetsAt'> => {
  let last: Promise<unknown> = Promise.resolve()
  /**
   * Makes one request at a time: one that fails closes the connection, and with it all other requests. And kafkajs
   * loses what it knows of a topic when two requests ask for their topics at once.
   */
  const request = <Result>(work: (open: Admin) => Promise<Result>): Promise<Result> => {
    const next = last.then(() => whileLeadersChange(() => admin.use(work)))
    last = next.catch(() => undefined)
    return next
  }

  return {
    positions: (group, topics) => request((open) => positionsOf(open, prefix, group, topics)),

    async offsetsAt(topics, time) {
      const offsets = new Map<string, number>()
      for (const topic of topics) {
        const found = await request((open) => open.fetchTopicOffsetsByTimestamp(prefix + topic, time.getTime()))
        for (const { partition, offset } of found) offsets.set(`${topic}/${partition}`, Number(offset))
      }
      return offsets
    },
  }
}

async function positionsOf(open: Admin, prefix: string, group: string, names: readonly string[]): Promise<Position[]> {
  const topics = names.map((name) => prefix + name)
  const committed = await open.fetchOffsets({ groupId: prefix + group, topics })
  const perTopic = committed.map(async ({ topic, partitions }) => {
    const ends = new Map((await open.fetchTopicOffsets(topic)).map((end) => [end.partition, end]))
    return partitions.map(({ partition, offset }) => {
      const end = ends.get(partition)
      // A group without a position (-1), or with a position before the first record kept, reads from that record.
      const next = Math.max(Number(offset), Number(end?.low ?? 0))
      const name = `${topic.slice(prefix.length)}/${partition}`
      const lag = Math.max(Number(end?.high ?? 0) - next, 0)
      return { partition: name, offset: next, lag, hasBegun: Number(offset) >= 0 }
    })
  })
  return (await Promise.all(perTopic)).flat()
}

/** Repeats a request that a new partition's leader refuses: it learns some milliseconds late that it leads. */
const whileLeadersChange = <Result>(request: () => Promise<Result>): Promise<Result> =>
  retry(request, (error, failures) => {
    const isWithoutLeader = error instanceof Error && 'type' in error && error.type === 'NOT_LEADER_FOR_PARTITION'
    return isWithoutLeader && failures < LEADER_TRIES ? LEADER_PAUSE_MS : undefined
  })
