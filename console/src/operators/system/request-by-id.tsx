import { useQuery } from '@tanstack/react-query'
import { admin, bodyOf } from '../../api/client.ts'
import { Filters, useFilters, Words } from '../../parts/filters.tsx'
import { Answer, Facts, Section } from '../../parts/page.tsx'
import { Id, Long, Time } from '../../parts/text.tsx'
import { WorkspaceLink } from '../workspace-link.tsx'

/** A request by the `X-Request-Id` that a merchant got, of the last seven days. */
export function RequestById() {
  const [{ request: id = '' }] = useFilters()
  const found = useQuery({
    queryKey: ['operators', 'request', id],
    queryFn: () => bodyOf(admin.GET('/admin/v1/requests/{id}', { params: { path: { id } } })),
    enabled: id !== '',
  })
  return (
    <Section title="Request by its id">
      <Filters>
        <Words label="Request id" name="request" placeholder="X-Request-Id" />
      </Filters>
      {id !== '' && (
        <Answer of={found}>
          {({ at, workspace, key_id, method, path, status, service, error_reason, duration_ms, trace_id }) => (
            <Facts
              of={{
                Request: <Long text={`${method} ${path}`} />,
                Status: status,
                Reason: error_reason,
                At: <Time at={at} />,
                Took: `${duration_ms.toLocaleString()} ms`,
                Service: service,
                Workspace: <WorkspaceLink id={workspace} />,
                Key: <Id id={key_id} />,
                Trace: trace_id && <Id id={trace_id} />,
              }}
            />
          )}
        </Answer>
      )}
    </Section>
  )
}
