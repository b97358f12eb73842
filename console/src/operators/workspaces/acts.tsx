import { useState } from 'react'
import { admin, bodyOf } from '../../api/client.ts'
import { ApiAct } from '../../parts/action.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { FormButton, fieldOf } from '../../parts/form-dialog.tsx'
import { Long } from '../../parts/text.tsx'

interface ActsProps {
  readonly id: string
  readonly name: string
  readonly status: string
}

/** What an operator does with a workspace: look into it, stop it, let it go on, delete it. */
export const WorkspaceActs = ({ id, name, status }: ActsProps) => (
  <>
    <Open id={id} />
    {status === 'SUSPENDED' ? (
      <ApiAct
        act={() => bodyOf(admin.POST('/admin/v1/workspaces/{id}/resume', { params: { path: { id } }, body: {} }))}
        done="The workspace goes on. Its keys work again."
        changes={['operators']}
      >
        Resume
      </ApiAct>
    ) : (
      <Suspend id={id} />
    )}
    <Delete id={id} name={name} />
  </>
)

/** Opens the console of the workspace in another tab, in a session of support (OP-291). */
function Open({ id }: { readonly id: string }) {
  const title = 'Open the workspace for support'
  const [blocked, setBlocked] = useState<string>()
  const close = () => setBlocked(undefined)
  return (
    <>
      <FormButton
        label="Open workspace"
        className="primary"
        title={title}
        submit="Open"
        done="The workspace opens in another tab."
        send={async (form) => {
          const body = { page: 'console', support: { reason: fieldOf(form, 'reason') } } as const
          return bodyOf(admin.POST('/admin/v1/workspaces/{id}/links', { params: { path: { id } }, body }))
        }}
        onDone={({ url }) => window.open(url, '_blank') ?? setBlocked(url)}
      >
        <p className="quiet">
          The session lasts for 30 minutes. The merchant's audit log has its reason and what you look at. Each change
          asks for a reason of its own.
        </p>
        <label>
          Reason
          <input name="reason" required maxLength={255} placeholder="ticket 1234" />
        </label>
      </FormButton>
      {blocked && (
        <Dialog title={title} onClose={close}>
          <a href={blocked} target="_blank" rel="noreferrer" onClick={close}>
            The browser has kept the tab closed: open it here, once
          </a>
        </Dialog>
      )}
    </>
  )
}

const Suspend = ({ id }: { readonly id: string }) => (
  <FormButton
    label="Suspend"
    title="Suspend the workspace?"
    submit="Suspend"
    isDanger
    done="The workspace is suspended."
    changes={['operators']}
    send={(form) => {
      const body = { reason: fieldOf(form, 'reason') || null }
      return bodyOf(admin.POST('/admin/v1/workspaces/{id}/suspend', { params: { path: { id } }, body }))
    }}
  >
    <p>Its keys are refused and its webhooks wait until it is resumed. Nothing is deleted.</p>
    <label>
      Reason (may be left out)
      <input name="reason" maxLength={255} placeholder="unpaid" />
    </label>
  </FormButton>
)

const Delete = ({ id, name }: Omit<ActsProps, 'status'>) => (
  <FormButton
    label="Delete"
    className="danger"
    title="Delete the workspace?"
    submit="Delete for good"
    isDanger
    done="The workspace is being deleted."
    changes={['operators']}
    send={async (form) => {
      if (fieldOf(form, 'name') !== name.trim()) throw new Error('Type the name of the workspace as it is written.')
      await bodyOf(admin.DELETE('/admin/v1/workspaces/{id}', { params: { path: { id } } }))
    }}
  >
    <p>All that it has is deleted: products, orders, customers, files, keys and its sandbox. This cannot be undone.</p>
    <label>
      <span>
        To delete it, type <Long text={name} />
      </span>
      <input name="name" required autoComplete="off" />
    </label>
  </FormButton>
)
