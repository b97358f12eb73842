import type { components } from '../api/client.ts'
import { Table } from '../parts/table.tsx'

export type Day = components['schemas']['UsageOfDay']
type Count = Exclude<keyof Day, 'day'>

const WIDTH = 300
const HEIGHT = 64
const GAP = 2
/** A day with anything at all can be seen. */
const LEAST = 2

/** Days are those of UTC, wherever the viewer is. */
const DAY = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' })
const dayText = (day: string) => DAY.format(new Date(`${day}T00:00:00Z`))

interface DayChartProps {
  readonly title: string
  readonly days: readonly Day[]
  readonly of: Count
  readonly isBad?: boolean
}

/** One number of each day as bars, with the sum above them. */
export function DayChart({ title, days, of, isBad = false }: DayChartProps) {
  const counts = days.map((day) => day[of])
  const sum = counts.reduce((all, count) => all + count, 0)
  const most = Math.max(...counts, 1)
  const step = WIDTH / days.length
  const [first, last] = [dayText(days[0]?.day ?? ''), dayText(days.at(-1)?.day ?? '')]
  return (
    <figure className="chart">
      <figcaption>
        <span className="quiet">{title}</span>
        <b>{sum.toLocaleString()}</b>
      </figcaption>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${title} of each day from ${first} to ${last}: ${sum.toLocaleString()} in all, ${most.toLocaleString()} at most`}
      >
        {days.map((day, index) => {
          const height = day[of] === 0 ? 0 : Math.max(LEAST, (day[of] / most) * HEIGHT)
          return (
            <g key={day.day}>
              <title>{`${dayText(day.day)}: ${day[of].toLocaleString()}`}</title>
              <rect className="all" x={index * step} y={0} width={step} height={HEIGHT} />
              <rect
                className={isBad ? 'bad' : undefined}
                x={index * step + GAP / 2}
                y={HEIGHT - height}
                width={step - GAP}
                height={height}
              />
            </g>
          )
        })}
      </svg>
      <p className="quiet">
        <span>{first}</span>
        <span>{last}</span>
      </p>
    </figure>
  )
}

/** The numbers of the charts, the latest day first. */
export const DayTable = ({ days }: { readonly days: readonly Day[] }) => (
  <Table
    label="Numbers of each day"
    rows={days.toReversed()}
    keyOf={({ day }) => day}
    columns={[
      { head: 'Day (UTC)', cell: ({ day }) => dayText(day) },
      { head: 'Requests', cell: ({ requests }) => requests.toLocaleString(), isNumber: true },
      { head: 'Refused (429)', cell: ({ rate_limited }) => rate_limited.toLocaleString(), isNumber: true },
      { head: 'Events', cell: ({ events }) => events.toLocaleString(), isNumber: true },
      { head: 'Deliveries', cell: ({ deliveries }) => deliveries.toLocaleString(), isNumber: true },
      { head: 'Failed', cell: ({ failures }) => failures.toLocaleString(), isNumber: true },
    ]}
  />
)
