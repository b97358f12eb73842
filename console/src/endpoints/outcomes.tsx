import type { Delivery } from '../deliveries/find-deliveries.ts'
import { counted } from '../parts/action.tsx'
import { Time } from '../parts/text.tsx'

const [PERIODS, WIDTH, HEIGHT, GAP] = [40, 600, 64, 2]
/** From below. */
const STATES = [
  ['DELIVERED', 'good'],
  ['PENDING', 'busy'],
  ['FAILED', 'bad'],
] as const

const numberOf = (state: string, among: readonly Delivery[]) => among.filter(({ status }) => status === state).length

const inWords = (among: readonly Delivery[]): string =>
  STATES.map(([state]) => `${numberOf(state, among)} ${state.toLowerCase()}`).join(', ')

/** What became of the latest deliveries, newest first, by when they were created. */
export function Outcomes({ of: deliveries }: { readonly of: readonly Delivery[] }) {
  const [newest, oldest] = [deliveries[0], deliveries.at(-1)]
  if (!oldest || !newest) return <p className="quiet">Nothing was sent to it yet. A ping shows whether it answers.</p>
  const [from, to] = [Date.parse(oldest.created_at), Date.parse(newest.created_at)]
  const placeOf = ({ created_at }: Delivery) =>
    Math.min(PERIODS - 1, Math.floor(((Date.parse(created_at) - from) / Math.max(1, to - from)) * PERIODS))
  const periods = Map.groupBy(deliveries, placeOf)
  const most = Math.max(...[...periods.values()].map(({ length }) => length))
  return (
    <figure className="chart">
      <figcaption>
        <span className="quiet">The latest {counted(deliveries.length, 'delivery', 'deliveries')}</span>
        <span>{inWords(deliveries)}</span>
      </figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={inWords(deliveries)}>
        {[...periods].map(([place, among]) => (
          <Bar key={place} place={place} among={among} most={most} />
        ))}
      </svg>
      <p className="quiet">
        <Time at={oldest.created_at} />
        <Time at={newest.created_at} />
      </p>
    </figure>
  )
}

interface BarProps {
  readonly place: number
  /** The deliveries of a period, and how many the fullest period has. */
  readonly among: readonly Delivery[]
  readonly most: number
}

function Bar({ place, among, most }: BarProps) {
  const step = WIDTH / PERIODS
  let y = HEIGHT
  return (
    <g>
      <title>{inWords(among)}</title>
      <rect className="all" x={place * step} y={0} width={step} height={HEIGHT} />
      {STATES.map(([state, tone]) => {
        const height = (numberOf(state, among) / most) * HEIGHT
        y -= height
        return <rect key={state} className={tone} x={place * step + GAP / 2} y={y} width={step - GAP} height={height} />
      })}
    </g>
  )
}
