import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { admin, bodyOf } from '../../api/client.ts'
import { Answer } from '../../parts/answer.tsx'
import { Section } from '../../parts/page.tsx'
import { Table } from '../../parts/table.tsx'
import { HEALTH } from '../endpoint-health.tsx'

const MOST = 20

/** The endpoints of all workspaces that fail, or were disabled because they did, the worst first. */
export function FailingEndpoints() {
  const failing = useQuery({
    queryKey: ['operators', 'failing'],
    queryFn: () => bodyOf(admin.GET('/admin/v1/endpoints', { params: { query: { limit: MOST } } })),
  })
  return (
    <Section title="Failing endpoints">
      <Answer of={failing}>
        {({ items, total }) =>
          items.length === 0 ? (
            <p className="quiet">None, in any workspace.</p>
          ) : (
            <>
              <Table
                label="Failing endpoints"
                rows={items}
                keyOf={({ id }) => id}
                columns={[
                  ...HEALTH,
                  {
                    head: 'Workspace',
                    cell: ({ workspace }) => (
                      <Link to="/operators/workspaces/$workspace" params={{ workspace }}>
                        Workspace
                      </Link>
                    ),
                    isShort: true,
                  },
                ]}
              />
              {total > items.length && (
                <p className="quiet">
                  The worst {MOST} of {total.toLocaleString()}.
                </p>
              )}
            </>
          )
        }
      </Answer>
    </Section>
  )
}
