import { Link } from '@tanstack/react-router'
import type { FormEvent } from 'react'
import { admin, bodyOf } from '../api/client.ts'
import { Act, useAction } from '../parts/action.tsx'
import { Badge } from '../parts/badge.tsx'
import { fieldOf } from '../parts/form-dialog.tsx'
import { Facts, Page, Section } from '../parts/page.tsx'
import { Scopes } from '../parts/scopes.tsx'
import { Long, Time } from '../parts/text.tsx'

const ENDS = {
  keys: '/admin/v1/keys/{id}',
  'support-sessions': '/admin/v1/support-sessions/{id}',
  'console-sessions': '/admin/v1/console-sessions/{id}',
  operators: '/admin/v1/operators/{id}',
} as const

/** Tells whose key or token a text is that was found somewhere, and ends it. */
export function LeaksPage() {
  const identify = useAction(
    (form: FormData) => bodyOf(admin.POST('/admin/v1/keys/identify', { body: { key: fieldOf(form, 'key') } })),
    { done: 'The platform knows it.' },
  )
  const end = useAction(
    async () => {
      const [, resource, id = ''] = /\/(keys|[a-z]+-sessions|operators)\/([^/]+)$/.exec(found?.end_with ?? '') ?? []
      const path = ENDS[resource as keyof typeof ENDS]
      if (path === undefined) throw new Error(`It ends with ${found?.end_with}.`)
      await bodyOf(admin.DELETE(path, { params: { path: { id } } }))
    },
    { done: 'It has ended: whoever has it is refused.', changes: ['operators'], onDone: () => identify.reset() },
  )
  const found = identify.data
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    identify.mutate(new FormData(event.currentTarget))
    event.currentTarget.reset()
  }
  return (
    <Page title="Leaked keys">
      <Section title="Whose is it?">
        <form onSubmit={submit}>
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
              <Act
                className="danger"
                isBusy={end.isPending}
                question="End it now? Whatever uses it is refused at once."
                onAct={() => end.mutate()}
              >
                End it now
              </Act>
            )
          }
        >
          <Facts
            of={{
              State: <Badge state={found.state} tone={found.state === 'IN_FORCE' ? 'bad' : 'plain'} />,
              Name: <Long text={found.name} />,
              Workspace: found.workspace && (
                <Link to="/operators/workspaces/$workspace" params={{ workspace: found.workspace.id }}>
                  <Long text={found.workspace.name} most={80} isCut />
                </Link>
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
