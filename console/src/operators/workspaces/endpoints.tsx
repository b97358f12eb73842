import { useQuery } from '@tanstack/react-query'
import { admin, bodyOf } from '../../api/client.ts'
import { Answer } from '../../parts/answer.tsx'
import { Section } from '../../parts/page.tsx'
import { Table } from '../../parts/table.tsx'
import { HEALTH } from '../endpoint-health.tsx'

/** The health of a workspace's webhook endpoints, the worst first. */
export function Endpoints({ workspace: id }: { readonly workspace: string }) {
  const health = useQuery({
    queryKey: ['operators', 'endpoints', id],
    queryFn: () => bodyOf(admin.GET('/admin/v1/workspaces/{id}/endpoints', { params: { path: { id } } })),
  })
  return (
    <Section title="Endpoints">
      <Answer of={health}>
        {({ endpoints }) =>
          endpoints.length === 0 ? (
            <p className="quiet">The workspace has no webhook endpoint.</p>
          ) : (
            <Table label="Endpoints" rows={endpoints} keyOf={(one) => one.id} columns={HEALTH} />
          )
        }
      </Answer>
    </Section>
  )
}
