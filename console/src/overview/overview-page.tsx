import { useQuery } from '@tanstack/react-query'
import { api, bodyOf } from '../api/client.ts'
import { Limits } from '../parts/limits.tsx'
import { Answer, Page, Section } from '../parts/page.tsx'
import { useCan } from '../session/session.ts'
import { Attention } from './attention.tsx'
import { type Day, DayChart, DayTable } from './day-charts.tsx'

const LIVE_MS = 30_000

/** What happens in the workspace, and what somebody should look at. */
export function OverviewPage() {
  const can = useCan()
  const reads = can('workspace::read')
  const usage = useQuery({
    enabled: reads,
    queryKey: ['overview', 'usage'],
    queryFn: () => bodyOf(api.GET('/v1/usage')),
    refetchInterval: LIVE_MS,
  })
  const limits = useQuery({
    enabled: reads,
    queryKey: ['overview', 'limits'],
    queryFn: () => bodyOf(api.GET('/v1/limits')),
  })
  return (
    <Page title="Overview">
      <Attention usage={usage.data} limits={limits.data} />
      {reads && (
        <>
          <Answer of={usage}>{({ days }) => <Days days={days} />}</Answer>
          <Section title="Limits" of={limits}>
            {(found) => <Limits of={found} />}
          </Section>
        </>
      )}
    </Page>
  )
}

/** What was done on each of the last days. */
const Days = ({ days }: { readonly days: readonly Day[] }) => (
  <Section title={`Last ${days.length} days`}>
    <div className="charts">
      <DayChart title="Requests" days={days} of="requests" />
      <DayChart title="Refused (429)" days={days} of="rate_limited" isBad />
      <DayChart title="Events" days={days} of="events" />
      <DayChart title="Deliveries" days={days} of="deliveries" />
      <DayChart title="Failed deliveries" days={days} of="failures" isBad />
    </div>
    <details>
      <summary>The numbers of each day</summary>
      <DayTable days={days} />
    </details>
  </Section>
)
