import { useRef } from 'react'
import { admin, bodyOf } from '../api/client.ts'
import { ApiAct, useAction } from '../parts/action.tsx'
import { fieldOf, submitted } from '../parts/form-dialog.tsx'
import { Facts, Page, Section } from '../parts/page.tsx'
import { Scopes } from '../parts/scopes.tsx'
import { Badge, Long, Time } from '../parts/text.tsx'
import { WorkspaceLink } from './workspace-link.tsx'

const ENDS = {
  keys: '/admin/v1/keys/{id}',
  'support-sessions': '/admin/v1/support-sessions/{id}',
  'console-sessions': '/admin/v1/console-sessions/{id}',
  operators: '/admin/v1/operators/{id}',
} as const

/** Tells whose key or token a text is that was found somewhere, and ends it. */
export function LeaksPage() {
  const form = useRef<HTMLFormElement>(null)
  const identify = useAction(
    (typed: FormData) => bodyOf(admin.POST('/admin/v1/keys/identify', { body: { key: fieldOf(typed, 'key') } })),
    { done: 'The platform knows it.', onDone: () => form.current?.reset() },
  )
  const found = identify.data
  const end = async () => {
    const [, resource, id = ''] = /\/(keys|[a-z]+-sessions|operators)\/([^/]+)$/.exec(found?.end_with ?? '') ?? []
    const path = ENDS[resource as keyof typeof ENDS]
    if (path === undefined) throw new Error(`It ends with ${found?.end_with}.`)
    await bodyOf(admin.DELETE(path, { params: { path: { id } } }))
  }
  return (
    <Page title="Leaked keys">
      <Section title="Whose is it?">
        <form ref={form} onSubmit={submitted(identify.mutate)}>
          <label>
            The text that was found
            <textarea name="key" required maxLength={1000} autoComplete="off" spellCheck={false} />
          </label>
          <p className="quiet">
            An API key, or the token of an operator or a session. It is neither stored nor logged.
          </p>
          <div className="actions">
            <button type="submit" className="primary" disabled={identify.isPending}>
              Identify
            </button>
          </div>
        </form>
      </Section>
      {found && (
        <Section
          title={found.kind === 'operator' ? 'The token of an operator' : `A key of kind ${found.kind}`}
          actions={
            found.end_with && (
              <ApiAct
                className="danger"
                question="End it now? Whatever uses it is refused at once."
                act={end}
                done="It has ended: whoever has it is refused."
                changes={['operators']}
                onDone={() => identify.reset()}
              >
                End it now
              </ApiAct>
            )
          }
        >
          <Facts
            of={{
              State: <Badge state={found.state} tone={found.state === 'IN_FORCE' ? 'bad' : 'plain'} />,
              Name: <Long text={found.name} />,
              Workspace: found.workspace && (
                <WorkspaceLink id={found.workspace.id}>
                  <Long text={found.workspace.name} isCut />
                </WorkspaceLink>
              ),
              Mode: found.livemode === null ? undefined : found.livemode ? 'live' : 'sandbox',
              'May do': <Scopes of={found.scopes} />,
              Created: <Time at={found.created_at} />,
              'Last used': <Time at={found.last_used_at} />,
              Ends: (found.revoked_at ?? found.expires_at) && <Time at={found.revoked_at ?? found.expires_at} />,
            }}
          />
        </Section>
      )}
    </Page>
  )
}
