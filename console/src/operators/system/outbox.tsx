import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { admin, bodyOf } from '../../api/client.ts'
import { counted } from '../../parts/action.tsx'
import { Section } from '../../parts/page.tsx'
import { Table } from '../../parts/table.tsx'
import { Runbook, Unanswered } from './runbook.tsx'

const LIVE_MS = 10_000
const LATE_S = 60

/** The records that services have not published, by service. */
export function Outbox() {
  const outbox = useQuery({
    queryKey: ['operators', 'outbox'],
    queryFn: () => bodyOf(admin.GET('/admin/v1/outbox')),
    refetchInterval: LIVE_MS,
  })
  return (
    <Section title="Outbox" of={outbox}>
      {({ services, unanswered }) => (
        <>
          <Unanswered of={unanswered} />
          <Table
            label="Outbox of each service"
            rows={services}
            keyOf={({ service }) => service}
            columns={[
              { head: 'Service', cell: ({ service }) => service },
              { head: 'Waiting', cell: ({ waiting }) => waiting.toLocaleString(), isNumber: true },
              { head: 'Oldest', cell: ({ oldest_seconds: s }) => counted(s, 'second'), isNumber: true },
              { head: 'Held for a schema or topic', cell: ({ held }) => held.toLocaleString(), isNumber: true },
              {
                head: 'Refused',
                cell: ({ service, refused }) =>
                  refused === 0 ? (
                    '0'
                  ) : (
                    <Link to="/operators/system/outbox/$service" params={{ service }}>
                      {counted(refused, 'record')}
                    </Link>
                  ),
                isNumber: true,
              },
            ]}
          />
          {services.some(({ refused }) => refused > 0) && <Runbook section="outbox-rows-refused" />}
          {services.some(({ held }) => held > 0) && <Runbook section="outbox-rows-held" />}
          {services.some(({ oldest_seconds }) => oldest_seconds > LATE_S) && <Runbook section="outbox-not-published" />}
        </>
      )}
    </Section>
  )
}
