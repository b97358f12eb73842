import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { admin, bodyOf } from '../../api/client.ts'
import { ApiFailure } from '../../api/failure.ts'
import { Answer } from '../../parts/answer.tsx'
import { Badge } from '../../parts/badge.tsx'
import { Limits } from '../../parts/limits.tsx'
import { Facts, Page, Section } from '../../parts/page.tsx'
import { Id, Long, Time } from '../../parts/text.tsx'
import { WorkspaceActs } from './acts.tsx'
import { Deletion } from './deletion.tsx'
import { Endpoints } from './endpoints.tsx'
import { Installations } from './installations.tsx'
import { Keys } from './keys.tsx'

/** One workspace or sandbox, as an operator sees it. Of a deleted one, what is left. */
export function WorkspacePage() {
  const { workspace: id } = useParams({ from: '/operators/workspaces/$workspace' })
  const found = useQuery({
    queryKey: ['operators', 'workspace', id],
    queryFn: () => bodyOf(admin.GET('/admin/v1/workspaces/{id}', { params: { path: { id } } })),
  })
  const above = <Link to="/operators/workspaces">Workspaces</Link>
  if (found.error instanceof ApiFailure && found.error.status === 404) {
    return (
      <Page title="Deleted workspace" above={above}>
        <Deletion workspace={id} />
      </Page>
    )
  }
  const name = found.data?.name.slice(0, 100) ?? 'Workspace'
  return (
    <Page
      title={name}
      above={above}
      actions={found.data && <WorkspaceActs id={id} name={found.data.name} status={found.data.status} />}
    >
      <Answer of={found}>
        {({ status, domain, livemode, sandbox, live_workspace, created_at, settings, ...rest }) => (
          <>
            <Section title={livemode ? 'Workspace' : 'Sandbox'}>
              <Facts
                of={{
                  State: <Badge state={status} />,
                  'Suspended at': rest.suspended_at && <Time at={rest.suspended_at} />,
                  'Suspended since': rest.suspension_reason && <Long text={rest.suspension_reason} />,
                  Domain: domain,
                  Id: <Id id={id} />,
                  Created: <Time at={created_at} />,
                  Sandbox: sandbox && <Other id={sandbox.id} text="Open the sandbox's page" />,
                  'Live workspace': !livemode && <Other id={live_workspace} text="Open the live workspace's page" />,
                  'Own rate limit':
                    settings.rate_limit &&
                    `${settings.rate_limit.per_second.toLocaleString()} a second, ${settings.rate_limit.burst.toLocaleString()} at once`,
                  'Products are shown while': settings.product_statuses.join(', ').toLowerCase(),
                }}
              />
            </Section>
            <Keys workspace={id} />
            <Endpoints workspace={id} />
            <Installations workspace={id} />
            <LimitsOf workspace={id} />
          </>
        )}
      </Answer>
    </Page>
  )
}

const Other = ({ id, text }: { readonly id: string; readonly text: string }) => (
  <Link to="/operators/workspaces/$workspace" params={{ workspace: id }}>
    {text}
  </Link>
)

function LimitsOf({ workspace: id }: { readonly workspace: string }) {
  const limits = useQuery({
    queryKey: ['operators', 'limits', id],
    queryFn: () => bodyOf(admin.GET('/admin/v1/workspaces/{id}/limits', { params: { path: { id } } })),
  })
  return (
    <Section title="Limits">
      <Answer of={limits}>{(found) => <Limits of={found} />}</Answer>
    </Section>
  )
}
