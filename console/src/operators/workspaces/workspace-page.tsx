import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { admin, bodyOf } from '../../api/client.ts'
import { ApiFailure } from '../../api/failure.ts'
import { Limits } from '../../parts/limits.tsx'
import { Facts, Page, Section } from '../../parts/page.tsx'
import { Badge, Id, Long, Time } from '../../parts/text.tsx'
import { WorkspaceLink } from '../workspace-link.tsx'
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
      of={found}
    >
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
                Sandbox: sandbox && <WorkspaceLink id={sandbox.id}>Open the sandbox's page</WorkspaceLink>,
                'Live workspace': !livemode && (
                  <WorkspaceLink id={live_workspace}>Open the live workspace's page</WorkspaceLink>
                ),
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
    </Page>
  )
}

function LimitsOf({ workspace: id }: { readonly workspace: string }) {
  const limits = useQuery({
    queryKey: ['operators', 'limits', id],
    queryFn: () => bodyOf(admin.GET('/admin/v1/workspaces/{id}/limits', { params: { path: { id } } })),
  })
  return (
    <Section title="Limits" of={limits}>
      {(found) => <Limits of={found} />}
    </Section>
  )
}
