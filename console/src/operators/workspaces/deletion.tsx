import { useQuery } from '@tanstack/react-query'
import { admin, bodyOf } from '../../api/client.ts'
import { Answer, Facts, Section } from '../../parts/page.tsx'
import { Table } from '../../parts/table.tsx'
import { Badge, Id, Time } from '../../parts/text.tsx'

const BUSY_MS = 5_000

/** Null while the service does not answer. */
const leftText = (left: number | null) => left?.toLocaleString() ?? 'no answer'

/** What each service still has of a deleted workspace. */
export function Deletion({ workspace: id }: { readonly workspace: string }) {
  const deletion = useQuery({
    queryKey: ['operators', 'deletion', id],
    queryFn: () => bodyOf(admin.GET('/admin/v1/workspaces/{id}/deletion', { params: { path: { id } } })),
    refetchInterval: ({ state }) => (state.data?.completed === false ? BUSY_MS : false),
  })
  return (
    <Answer of={deletion}>
      {({ completed, requested_at, services }) => (
        <Section title="What is left of it">
          <Facts
            of={{
              State: <Badge state={completed ? 'COMPLETED' : 'RUNNING'} />,
              'Deletion asked for': <Time at={requested_at} />,
              Id: <Id id={id} />,
            }}
          />
          <Table
            label="What services have left"
            rows={services}
            keyOf={({ service }) => service}
            columns={[
              { head: 'Service', cell: ({ service }) => service },
              { head: 'Rows left', cell: ({ rows }) => leftText(rows), isNumber: true },
              { head: 'Files left', cell: ({ files }) => leftText(files), isNumber: true },
            ]}
          />
          <p className="quiet">Late records are deleted again several times within 8 days.</p>
        </Section>
      )}
    </Answer>
  )
}
