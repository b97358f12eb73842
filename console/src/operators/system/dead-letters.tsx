import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { admin, bodyOf } from '../../api/client.ts'
import { Section } from '../../parts/page.tsx'
import { Table } from '../../parts/table.tsx'
import { Runbook, Unanswered } from './runbook.tsx'

/** The consumers that could not process records in the last week. */
export function DeadLetters() {
  const counts = useQuery({
    queryKey: ['operators', 'dead-letters'],
    queryFn: () => bodyOf(admin.GET('/admin/v1/dead-letters')),
  })
  return (
    <Section title="Dead letters of the last week" of={counts}>
      {({ consumers, unanswered }) => (
        <>
          <Unanswered of={unanswered} />
          <Table
            label="Consumers with dead letters"
            rows={consumers}
            keyOf={({ consumer }) => consumer}
            columns={[
              {
                head: 'Consumer',
                cell: ({ consumer }) => (
                  <Link to="/operators/system/dead-letters/$consumer" params={{ consumer }}>
                    {consumer}
                  </Link>
                ),
              },
              { head: 'Service', cell: ({ service }) => service },
              { head: 'Letters', cell: ({ letters }) => letters.toLocaleString(), isNumber: true },
              { head: 'Parked keys', cell: ({ parked_keys }) => parked_keys.toLocaleString(), isNumber: true },
            ]}
            empty="None. Records that a consumer cannot process appear here."
          />
          {consumers.length > 0 && <Runbook section="dead-letters" />}
        </>
      )}
    </Section>
  )
}
