import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { shortUrl, useAllEndpoints, useEventTypes } from '../endpoints/endpoints.ts'
import { Choice, Filters, Moment, Several, useFilters, Words } from '../parts/filters.tsx'
import { submitted } from '../parts/form-dialog.tsx'
import { Refusal, Unread } from '../parts/page.tsx'
import { ERROR_CLASSES } from './advice.ts'
import { type Meant, whatIsMeant } from './find-deliveries.ts'

const STATES = ['FAILED', 'PENDING', 'DELIVERED']
/** Filters that few need: they are folded until one is set. */
const FURTHER = ['app', 'response_status', 'error_class', 'since', 'until']

/** The search box and the filters of the deliveries. */
export function DeliveryFilters() {
  const [search] = useFilters()
  const endpoints = useAllEndpoints()
  const eventTypes = useEventTypes()
  const set = FURTHER.filter((name) => search[name]).length
  return (
    <>
      <search>
        <SearchBox />
      </search>
      <Filters>
        <Several label="State" name="status" options={STATES} />
        <Choice
          label="Endpoint"
          name="endpoint_id"
          options={(endpoints.data ?? []).map(({ id, url }) => [id, shortUrl(url)])}
        />
        <Choice label="Event" name="event_type" options={(eventTypes.data ?? []).map((type) => [type, type])} />
      </Filters>
      <Unread of={endpoints} />
      <Unread of={eventTypes} />
      <details className="more" open={set > 0}>
        <summary>More filters{set > 0 && ` (${set})`}</summary>
        <Filters>
          <Choice label="Failed by" name="error_class" options={ERROR_CLASSES} />
          <Words label="Status answered" name="response_status" placeholder="500" />
          <Words label="App" name="app" placeholder="example-pay" />
          <Moment label="Since" name="since" />
          <Moment label="Until" name="until" />
        </Filters>
      </details>
    </>
  )
}

/** Takes the id of a delivery, an event or a resource, or the name of an event, without asking which. */
function SearchBox() {
  const [search, change] = useFilters()
  const navigate = useNavigate()
  const given = search.event_id ?? search.resource_id ?? ''
  const [{ of, typed }, setTyped] = useState({ of: given, typed: given })
  if (of !== given) setTyped({ of: given, typed: given })
  const find = useMutation({ mutationFn: whatIsMeant })
  const show = (meant: Meant) => {
    if ('filters' in meant) return change({ event_id: undefined, resource_id: undefined, ...meant.filters })
    const { endpoint_id, id } = meant.delivery
    navigate({ to: '/deliveries/$endpoint/$delivery', params: { endpoint: endpoint_id, delivery: id } })
  }
  const submit = submitted(() => {
    const text = typed.trim()
    if (find.isPending) return
    if (text === '') change({ event_id: undefined, resource_id: undefined })
    // Nothing is shown any more on a page that was left meanwhile.
    else find.mutate(text, { onSuccess: show })
  })
  return (
    <form className="find" onSubmit={submit}>
      <input
        type="search"
        aria-label="Find by id"
        placeholder="Id of an event, a delivery, an order, a product …"
        maxLength={255}
        spellCheck={false}
        value={typed}
        onChange={({ target }) => setTyped({ of, typed: target.value })}
      />
      <button type="submit" aria-busy={find.isPending}>
        {find.isPending ? 'Searching…' : 'Find'}
      </button>
      <Refusal of={find.error} />
    </form>
  )
}
