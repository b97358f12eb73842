import { TOPICS } from '@backoffice/contracts/events.ts'
import { consumersOf, SERVICE_NAMES } from '@backoffice/contracts/services.ts'
import type { Kafka } from '../kafka/kafka-connection.ts'
import type { Backlog } from './state-throttle.ts'

/** The topic of states: an import publishes as many at once as it has rows. */
const STATES = TOPICS.catalogProducts
const GROUPS = SERVICE_NAMES.flatMap(consumersOf).filter(({ topics }) => topics.some((topic) => topic === STATES))

export const isState = (topic: string): boolean => topic === STATES

/** How far the consumers of states are behind. */
export async function backlogOfStates(kafka: Pick<Kafka, 'positions'>): Promise<Backlog> {
  const backlogs = await Promise.all(
    GROUPS.map(async ({ name }) => {
      const positions = await kafka.positions(name, [STATES])
      // A group that has never processed a record is not deployed yet. Its lag does not count: it will read everything.
      if (!positions.some(({ hasBegun }) => hasBegun)) return { lag: 0, processed: 0 }
      const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)
      return { lag: sum(positions.map(({ lag }) => lag)), processed: sum(positions.map(({ offset }) => offset)) }
    }),
  )
  return {
    lag: Math.max(0, ...backlogs.map(({ lag }) => lag)),
    processed: backlogs.reduce((sum, { processed }) => sum + processed, 0),
  }
}
