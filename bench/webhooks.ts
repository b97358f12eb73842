import { addKeptDays } from './kept-days.ts'
import { measureEventToReceiver } from './measure-event-to-receiver.ts'
import { measureFlood } from './measure-flood.ts'
import { measureHangingEndpoints } from './measure-hanging-endpoints.ts'
import { measureKills, measureManyEndpoints } from './measure-kills.ts'
import { measureOrder } from './measure-order.ts'
import { measureOutpost } from './measure-outpost.ts'
import { measureInTurn, measureRates } from './measure-rates.ts'
import { measureWideEvent } from './measure-wide-event.ts'
import { peakMemory } from './peak-memory.ts'
import type { WebhookPlace } from './subscribe.ts'
import type { Row } from './table.ts'

type Measure = (place: WebhookPlace) => Promise<Row[]>

const MEASUREMENTS: readonly [what: string, measure: Measure][] = [
  ['webhooks in order', measureOrder],
  ['webhooks sustained', measureRates],
  ['webhooks in turn', measureInTurn],
  ['webhooks from event to receiver', measureEventToReceiver],
  ['webhooks of one event to many', measureWideEvent],
  ['webhooks beside a flood', measureFlood],
  ['webhooks beside hanging endpoints', measureHangingEndpoints],
  ['webhooks after a kill', measureKills],
  ['webhooks with many endpoints', measureManyEndpoints],
  ['webhooks beside Outpost', measureOutpost],
]

/** The measurements of webhook delivery by name, each with the peak of memory. */
export const webhookMeasurements = (place: WebhookPlace): [what: string, measure: () => Promise<Row[]>][] =>
  MEASUREMENTS.map(([what, measure]) => [
    what,
    async () => {
      await addKeptDays(place)
      const rows = await measure(place)
      return [...rows, memoryRow(what, place)]
    },
  ])

function memoryRow(what: string, place: WebhookPlace): Row {
  const bytes = peakMemory(place.description().services['webhook-delivery']?.pid ?? 0)
  return {
    name: `peak memory of webhook-delivery, ${what}`,
    measured: `${Math.round(bytes / 1e6)} MB`,
    bound: '≤ 250 MB',
  }
}
