import { unprocessable } from '@backoffice/contracts/errors.ts'
import { Id } from '@backoffice/contracts/fields.ts'
import { namedObject } from '@backoffice/contracts/named.ts'
import { operation } from '@backoffice/http/operation.ts'
import { accepted } from '@backoffice/http/reply.ts'
import { z } from 'zod'
import { isOwn } from '../endpoints/owner.ts'
import { notifyDue } from '../shards/notify-due.ts'
import { FILTERS, findDeliveries } from './find-deliveries.ts'
import { placesOf } from './list-all-deliveries.ts'
import { requestResends } from './resend-delivery.ts'

/** The most deliveries that one request sends again (OP-250). */
const MOST = 1000

const Selection = namedObject(
  'DeliverySelection',
  { ...FILTERS, ids: z.array(Id).min(1).max(MOST).nullish(), after: Id.optional() },
  { status: ['FAILED'], since: '2026-03-01T12:00:00Z' },
)

/**
 * POST /v1/deliveries/resend (extension, OP-250): each of the newest deliveries that pass the filters is sent once
 * more, as `resendDelivery` does it with one. An app's key reaches the endpoints of its app only (OP-231).
 */
export const resendDeliveries = operation({
  operationId: 'resendDeliveries',
  method: 'POST',
  path: '/v1/deliveries/resend',
  summary: 'Send deliveries again',
  scope: 'webhook::create',
  body: Selection,
  responses: {
    202: namedObject(
      'Resends',
      { deliveries: z.int(), skipped: z.int(), next: Id.nullable() },
      { deliveries: 12, skipped: 0, next: null },
    ),
  },
  openPoints: ['OP-01', 'OP-08', 'OP-66', 'OP-122', 'OP-231', 'OP-250', 'OP-285'],
  extension: true,

  handle: ({ body: { after, ...filters }, context, inWorkspace }) =>
    inWorkspace(async (tx) => {
      refuseUnclear(filters)
      const wanted = { size: MOST, after, endpoints: isOwn(tx, context) }
      const { places, next } = await findDeliveries(tx, filters, wanted)
      const missing = filters.ids?.findIndex((id) => places.every((place) => place.id !== id)) ?? -1
      if (missing >= 0)
        throw unprocessable(['ids', missing], 'is no delivery that is found; leave it out', 'unknown_reference')
      // The oldest first, as results are written: in another order two statements would wait for each other.
      const resent = places.length === 0 ? [] : await requestResends(tx, placesOf(tx, places.toReversed()))
      await notifyDue(tx, [...new Set(places.map(({ endpoint_id }) => endpoint_id))])
      return accepted({ deliveries: resent.length, skipped: places.length - resent.length, next })
    }),
})

/** Ids are found by their endpoint; and all deliveries of a workspace are hardly what is meant. */
function refuseUnclear({ ids, endpoint_id, ...filters }: Omit<z.output<typeof Selection>, 'after'>): void {
  if (ids && endpoint_id === undefined)
    throw unprocessable(['endpoint_id'], 'is required with ids; send the endpoint of the deliveries')
  const isAll =
    !ids && endpoint_id === undefined && Object.values(filters).every((value) => value === undefined || value === null)
  if (isAll) throw unprocessable([], 'the selection is empty; send at least one filter, such as since')
}
