import { api, bodyOf, type components } from '../api/client.ts'
import type { Search } from '../parts/filters.tsx'

export type Delivery = components['schemas']['WorkspaceDelivery']

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const EVENT_TYPE = /^[a-z_]+(\.[a-z_]+)+$/
/** Of rare matches a page may be empty although others follow: the console looks so many pages further. */
const MOST_EMPTY_PAGES = 5

const readPage = (query: Record<string, string>) => bodyOf(api.GET('/v1/deliveries', { params: { query } }))

/** The deliveries of a page, with where the next one begins. */
export async function findDeliveries(search: Search) {
  let page = await readPage(search)
  for (let empty = 1; page.items.length === 0 && page.next && empty < MOST_EMPTY_PAGES; empty += 1) {
    page = await readPage({ ...search, after: page.next })
  }
  return page
}

/** What somebody searches for: one delivery, or filters that find some. */
export type Meant = { readonly delivery: Delivery } | { readonly filters: Search }

export async function whatIsMeant(text: string): Promise<Meant> {
  if (EVENT_TYPE.test(text)) return { filters: { event_type: text } }
  if (!UUID.test(text)) return { filters: { resource_id: text } }
  const [{ items }, ofEvent] = await Promise.all([
    readPage({ after: following(text), limit: '1' }),
    readPage({ event_id: text, limit: '1' }),
  ])
  const [delivery] = items
  if (delivery?.id === text.toLowerCase()) return { delivery }
  return { filters: ofEvent.items.length > 0 ? { event_id: text } : { resource_id: text } }
}

/** The id behind an id: the list begins behind `after`, newest first. */
const following = (id: string): string =>
  (BigInt(`0x${id.replaceAll('-', '')}`) + 1n)
    .toString(16)
    .padStart(32, '0')
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')

/** The filters of the URL, as a request that sends deliveries again has them. Undefined where there is none. */
export function selectionOf({ status, response_status, after: _, limit: __, ...others }: Search) {
  const selection = {
    ...others,
    ...(status && { status: status.split(',') as ('PENDING' | 'DELIVERED' | 'FAILED')[] }),
    ...(response_status && { response_status: Number(response_status) }),
  }
  return Object.keys(selection).length === 0 ? undefined : selection
}
