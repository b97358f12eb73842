import { useState } from 'react'
import { admin, bodyOf } from '../../api/client.ts'
import { Act, useAction } from '../../parts/action.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { FormDialog, fieldOf } from '../../parts/form-dialog.tsx'
import { Long } from '../../parts/text.tsx'

interface ActsProps {
  readonly id: string
  readonly name: string
  readonly status: string
}

/** What an operator does with a workspace: look into it, stop it, let it go on, delete it. */
export function WorkspaceActs({ id, name, status }: ActsProps) {
  const [asked, setAsked] = useState<'open' | 'suspend' | 'delete'>()
  const close = () => setAsked(undefined)
  const resume = useAction(
    () => bodyOf(admin.POST('/admin/v1/workspaces/{id}/resume', { params: { path: { id } }, body: {} })),
    { done: 'The workspace goes on. Its keys work again.', changes: ['operators'] },
  )
  return (
    <>
      <button type="button" className="primary" onClick={() => setAsked('open')}>
        Open workspace
      </button>
      {status === 'SUSPENDED' ? (
        <Act isBusy={resume.isPending} onAct={() => resume.mutate()}>
          Resume
        </Act>
      ) : (
        <button type="button" onClick={() => setAsked('suspend')}>
          Suspend
        </button>
      )}
      <button type="button" className="danger" onClick={() => setAsked('delete')}>
        Delete
      </button>
      {asked === 'open' && <Open id={id} onClose={close} />}
      {asked === 'suspend' && <Suspend id={id} onClose={close} />}
      {asked === 'delete' && <Delete id={id} name={name} onClose={close} />}
    </>
  )
}

interface DialogProps {
  readonly id: string
  readonly onClose: () => void
}

/** Opens the console of the workspace in another tab, in a session of support (OP-291). */
function Open({ id, onClose }: DialogProps) {
  const [blocked, setBlocked] = useState<string>()
  if (blocked !== undefined) {
    return (
      <Dialog title="Open the workspace for support" onClose={onClose}>
        <a href={blocked} target="_blank" rel="noreferrer" onClick={onClose}>
          The browser has kept the tab closed: open it here, once
        </a>
      </Dialog>
    )
  }
  return (
    <FormDialog
      title="Open the workspace for support"
      submit="Open"
      done="The workspace opens in another tab."
      send={async (form) => {
        const body = { page: 'console', support: { reason: fieldOf(form, 'reason') } } as const
        return bodyOf(admin.POST('/admin/v1/workspaces/{id}/links', { params: { path: { id } }, body }))
      }}
      onDone={({ url }) => (window.open(url, '_blank') ? onClose() : setBlocked(url))}
      onClose={onClose}
    >
      <p className="quiet">
        The session lasts for 30 minutes. The merchant's audit log has its reason and what you look at. Each change asks
        for a reason of its own.
      </p>
      <label>
        Reason
        <input name="reason" required maxLength={255} placeholder="ticket 1234" />
      </label>
    </FormDialog>
  )
}

function Suspend({ id, onClose }: DialogProps) {
  return (
    <FormDialog
      title="Suspend the workspace?"
      submit="Suspend"
      isDanger
      done="The workspace is suspended."
      changes={['operators']}
      send={(form) => {
        const body = { reason: fieldOf(form, 'reason') || null }
        return bodyOf(admin.POST('/admin/v1/workspaces/{id}/suspend', { params: { path: { id } }, body }))
      }}
      onClose={onClose}
    >
      <p>Its keys are refused and its webhooks wait until it is resumed. Nothing is deleted.</p>
      <label>
        Reason (may be left out)
        <input name="reason" maxLength={255} placeholder="unpaid" />
      </label>
    </FormDialog>
  )
}

function Delete({ id, name, onClose }: DialogProps & { readonly name: string }) {
  return (
    <FormDialog
      title="Delete the workspace?"
      submit="Delete for good"
      isDanger
      done="The workspace is being deleted."
      changes={['operators']}
      send={async (form) => {
        if (fieldOf(form, 'name') !== name.trim()) throw new Error('Type the name of the workspace as it is written.')
        await bodyOf(admin.DELETE('/admin/v1/workspaces/{id}', { params: { path: { id } } }))
      }}
      onClose={onClose}
    >
      <p>
        All that it has is deleted: products, orders, customers, files, keys and its sandbox. This cannot be undone.
      </p>
      <label>
        <span>
          To delete it, type <Long text={name} />
        </span>
        <input name="name" required autoComplete="off" />
      </label>
    </FormDialog>
  )
}
