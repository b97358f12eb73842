import { useQuery } from '@tanstack/react-query'
import { admin, bodyOf } from '../../api/client.ts'
import { Section } from '../../parts/page.tsx'
import { Table } from '../../parts/table.tsx'
import { HEALTH } from '../endpoint-health.tsx'
import { WorkspaceLink } from '../workspace-link.tsx'

const MOST = 20

/** The endpoints of all workspaces that fail, or were disabled because they did, the worst first. */
export function FailingEndpoints() {
  const failing = useQuery({
    queryKey: ['operators', 'failing'],
    queryFn: () => bodyOf(admin.GET('/admin/v1/endpoints', { params: { query: { limit: MOST } } })),
  })
  return (
    <Section title="Failing endpoints" of={failing}>
      {({ items, total }) => (
        <>
          <Table
            label="Failing endpoints"
            rows={items}
            columns={[
              ...HEALTH,
              {
                head: 'Workspace',
                cell: ({ workspace }) => <WorkspaceLink id={workspace}>Workspace</WorkspaceLink>,
                isShort: true,
              },
            ]}
            empty="None, in any workspace."
          />
          {total > items.length && (
            <p className="quiet">
              The worst {MOST} of {total.toLocaleString()}.
            </p>
          )}
        </>
      )}
    </Section>
  )
}
