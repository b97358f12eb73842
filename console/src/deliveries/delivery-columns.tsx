import { Link } from '@tanstack/react-router'
import type { Column } from '../parts/table.tsx'
import { Badge, Id, Time } from '../parts/text.tsx'
import { outcomeOf } from './advice.ts'
import type { Delivery } from './find-deliveries.ts'

// Two lines a row, as a time has them where there is little room: nine columns are too wide beside the menu.
const EVENT: Column<Delivery> = {
  head: 'Event and resource',
  cell: ({ id, endpoint_id, event_type, resource_id }) => (
    <span className="lines">
      <Link className="whole" to="/deliveries/$endpoint/$delivery" params={{ endpoint: endpoint_id, delivery: id }}>
        {event_type}
      </Link>
      <Id id={resource_id} />
    </span>
  ),
}
const STATE: Column<Delivery> = {
  head: 'State and answer',
  cell: ({ status, response_status, error_class }) => (
    <span className="lines">
      <Badge state={status} />
      {outcomeOf(response_status, error_class)}
    </span>
  ),
}
const FURTHER: readonly Column<Delivery>[] = [
  {
    head: 'Created',
    cell: ({ created_at }) => (
      <span className="lines">
        <Time at={created_at} />
      </span>
    ),
  },
  {
    head: 'Attempts',
    cell: ({ attempts_made, next_attempt_at }) => (
      <span className="lines">
        {attempts_made}
        {next_attempt_at && (
          <span>
            next <Time at={next_attempt_at} />
          </span>
        )}
      </span>
    ),
  },
]

/** The columns of deliveries of one endpoint. */
export const COLUMNS: readonly Column<Delivery>[] = [EVENT, STATE, ...FURTHER]

/** The columns of deliveries of several endpoints, with what says which. */
export const columnsWith = (endpoint: Column<Delivery>): readonly Column<Delivery>[] => [
  EVENT,
  STATE,
  endpoint,
  ...FURTHER,
]
