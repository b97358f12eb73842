import { Link } from '@tanstack/react-router'
import type { Column } from '../parts/table.tsx'
import { Badge, Id, Time } from '../parts/text.tsx'
import { outcomeOf } from './advice.ts'
import type { Delivery } from './find-deliveries.ts'

const EVENT: Column<Delivery> = {
  head: 'Event',
  cell: ({ id, endpoint_id, event_type }) => (
    <Link
      className="whole"
      to="/endpoints/$endpoint/deliveries/$delivery"
      params={{ endpoint: endpoint_id, delivery: id }}
    >
      {event_type}
    </Link>
  ),
}
const STATE: Column<Delivery> = { head: 'State', cell: ({ status }) => <Badge state={status} /> }
const ANSWER: Column<Delivery> = {
  head: 'Last answer',
  cell: ({ response_status, error_class }) => outcomeOf(response_status, error_class) ?? '–',
}
const FURTHER: readonly Column<Delivery>[] = [
  { head: 'Resource', cell: ({ resource_id }) => <Id id={resource_id} /> },
  { head: 'Created', cell: ({ created_at }) => <Time at={created_at} /> },
  { head: 'Attempts', cell: ({ attempts_made }) => attempts_made, isNumber: true },
  { head: 'Next attempt', cell: ({ next_attempt_at }) => <Time at={next_attempt_at} /> },
]

/** The columns of deliveries of one endpoint. */
export const COLUMNS: readonly Column<Delivery>[] = [EVENT, STATE, ANSWER, ...FURTHER]

/** The columns of deliveries of several endpoints, with what says which. */
export const columnsWith = (endpoint: Column<Delivery>): readonly Column<Delivery>[] => [
  EVENT,
  STATE,
  ANSWER,
  endpoint,
  ...FURTHER,
]
