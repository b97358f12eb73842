import { randomUUID } from 'node:crypto'
import { aCaller } from '@backoffice/testing/caller.ts'
import { describe, expect, test } from 'vitest'
import { webhookDelivery } from '../testing/webhooks-api.ts'

const { admin, send, createEndpointAt } = await webhookDelivery()
const caller = aCaller()
const { id } = await createEndpointAt(caller, 'https://example.com')
const endpoint = `/v1/webhooks/${id}`
const NO_TIME = 'must be an ISO 8601 date-time with its offset, such as 2026-03-01T12:00:00Z'
const YEARS = 'must lie in the years 1000 to 9999, in UTC'
const tomorrow = () => new Date(Date.now() + 86_400_000).toISOString()

describe('a list of deliveries filtered by garbage is bad_request and names the parameter', () => {
  test.each([
    ['status=DONE', 'status: must be one of PENDING, DELIVERED, FAILED'],
    ['status=failed', 'status: must be one of PENDING, DELIVERED, FAILED'],
    ['status=', 'status: must be one of PENDING, DELIVERED, FAILED'],
    ['status=PENDING&status=FAILED', 'status: is sent more than once'],
    ['event_type=', 'event_type: must have at least 1 character'],
    [`event_type=${'x'.repeat(256)}`, 'event_type: must have at most 255 characters'],
    ['event_type=a%00', 'event_type: must not contain NUL characters'],
    ['event_id=1', 'event_id: must be a UUID'],
    ['event_id=', 'event_id: must be a UUID'],
    [`event_id=${id}'`, 'event_id: must be a UUID'],
    ['since=yesterday', `since: ${NO_TIME}`],
    ['since=', `since: ${NO_TIME}`],
    ['since=1772366400', `since: ${NO_TIME}`],
    ['since=2026-03-01', `since: ${NO_TIME}`],
    ['since=2026-02-30T00:00:00Z', `since: ${NO_TIME}`],
    ['since=2026-03-01T00:00:00', `since: ${NO_TIME}`],
    ['since=2026-03-01T00:00:00+01:00', `since: ${NO_TIME}`],
    ['since=0001-01-01T00:00:00Z', `since: ${YEARS}`],
    ['until=infinity', `until: ${NO_TIME}`],
    ['since=x&until=y', `since: ${NO_TIME}; until: ${NO_TIME}`],
    ['page=0', 'page: must be an integer from 1 to 1000000000'],
    ['limit=101', 'limit: must be an integer from 1 to 100'],
    [
      'kind=x',
      'kind: unknown parameter; this operation takes page, limit, size, after, status, event_type, event_id, since, until',
    ],
  ])('%s', async (query, message) => {
    const { status, body } = await send(caller, 'GET', `${endpoint}/deliveries?${query}`)
    expect([status, body.error.code, body.error.message]).toEqual([400, 'bad_request', message])
  })

  test.each([
    'since=2026-03-01T00:00:00%2B01:00',
    'since=2026-03-01T00:00:00.123456789Z',
    'since=2026-03-02T00:00:00Z&until=2026-03-01T00:00:00Z',
    'event_type=no.such',
    `event_id=${randomUUID().toUpperCase()}`,
    'page=1000000000&limit=100',
  ])('but %s is well-formed, and finds nothing', async (query) => {
    const { status, body } = await send<{ total: number; items: [] }>(caller, 'GET', `${endpoint}/deliveries?${query}`)
    expect([status, body.total, body.items]).toEqual([200, 0, []])
  })
})

describe('what cannot be inspected or sent again is refused, naming the member', () => {
  const unknown = randomUUID()
  const none = `delivery_id: webhook endpoint ${id} has no delivery ${unknown}`
  test.each<[string, 'GET' | 'POST', string, unknown, number, string]>([
    ['a delivery that is not there', 'GET', `/deliveries/${unknown}`, undefined, 404, none],
    ['a resend of one that is not there', 'POST', `/deliveries/${unknown}/resend`, undefined, 404, none],
    ['a delivery id that is no UUID', 'GET', '/deliveries/1', undefined, 400, 'delivery_id: must be a UUID'],
    [
      'a resend of one whose id is no UUID',
      'POST',
      '/deliveries/1/resend',
      undefined,
      400,
      'delivery_id: must be a UUID',
    ],
    [
      'a resend with a body',
      'POST',
      `/deliveries/${unknown}/resend`,
      { force: true },
      400,
      'body: this operation takes no body',
    ],
    ['a ping with a body', 'POST', '/ping', { type: 'x' }, 400, 'body: this operation takes no body'],
    ['a recovery without a body', 'POST', '/recover', undefined, 400, 'body: is required'],
    ['a recovery since nothing', 'POST', '/recover', {}, 400, 'since: is required'],
    ['since null', 'POST', '/recover', { since: null }, 400, 'since: must be a string, not null'],
    ['since a number', 'POST', '/recover', { since: 1_772_366_400 }, 400, 'since: must be a string, not a number'],
    ['since no time', 'POST', '/recover', { since: 'yesterday' }, 400, `since: ${NO_TIME}`],
    ['since a date', 'POST', '/recover', { since: '2026-03-01' }, 400, `since: ${NO_TIME}`],
    ['since long ago', 'POST', '/recover', { since: '0999-01-01T00:00:00Z' }, 400, `since: ${YEARS}`],
    [
      'with an end',
      'POST',
      '/recover',
      { since: '2026-03-01T00:00:00Z', until: 1 },
      400,
      'until: must be a string, not a number',
    ],
    [
      'since tomorrow',
      'POST',
      '/recover',
      { since: tomorrow() },
      422,
      'since: lies in the future; send the time from which deliveries failed',
    ],
  ])('%s', async (_, method, path, sent, status, message) => {
    const answer = await send(caller, method, endpoint + path, sent)
    expect([answer.status, answer.body.error.message]).toEqual([status, message])
    expect(await admin`select from recovery`).toHaveLength(0)
    expect(await admin`select from delivery`).toHaveLength(0)
  })
})
