import { useQuery } from '@tanstack/react-query'
import { admin, bodyOf } from '../../api/client.ts'
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
    <Section title="Endpoints" of={health}>
      {({ endpoints }) => (
        <Table label="Endpoints" rows={endpoints} columns={HEALTH} empty="The workspace has no webhook endpoint." />
      )}
    </Section>
  )
}
