import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { api, bodyOf, type components } from '../api/client.ts'
import { Act, useAction } from '../parts/action.tsx'
import { Answer } from '../parts/answer.tsx'
import { AskDialog, fieldOf } from '../parts/ask-dialog.tsx'
import { Badge } from '../parts/badge.tsx'
import { Section } from '../parts/page.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { Long } from '../parts/text.tsx'

type Draft = components['schemas']['AppDraft']
type Manifest = components['schemas']['AppManifest']

const MOST = 100
const EXAMPLE: Manifest = { provider: 'my-app', name: 'My app', scopes: ['sale::read'], embed: '/embed' }

const COLUMNS: readonly Column<Draft>[] = [
  {
    head: 'Draft',
    cell: ({ id, name }) => (
      <Link to="/apps/drafts/$draft" params={{ draft: id }}>
        <Long text={name} most={60} isCut />
      </Link>
    ),
  },
  { head: 'State', cell: ({ installation }) => <Badge state={installation?.state ?? 'NOT_INSTALLED'} /> },
  { head: 'Origin', cell: ({ origin }) => <Long text={origin} most={80} /> },
  {
    head: 'Last error',
    cell: ({ installation }) => installation?.last_error && <Long text={installation.last_error} />,
  },
]

/** Apps that a partner tries in the sandbox before the platform has them. */
export function Drafts() {
  const [isNew, setIsNew] = useState(false)
  const drafts = useQuery({
    queryKey: ['apps', 'drafts'],
    queryFn: () => bodyOf(api.GET('/v1/sandbox/apps', { params: { query: { limit: MOST } } })),
  })
  return (
    <Section
      title="Drafts of apps"
      actions={
        <Act needs="app::create" onAct={() => setIsNew(true)}>
          New draft
        </Act>
      }
    >
      <Answer of={drafts}>
        {({ items }) =>
          items.length === 0 ? (
            <p className="quiet">Try an app of your own here: give its address and its manifest, then install it.</p>
          ) : (
            <Table label="Drafts of apps" rows={items} keyOf={({ id }) => id} columns={COLUMNS} />
          )
        }
      </Answer>
      {isNew && <NewDraft onClose={() => setIsNew(false)} />}
    </Section>
  )
}

function NewDraft({ onClose }: { readonly onClose: () => void }) {
  const create = useAction(
    async (form: FormData) => {
      const manifest = manifestOf(fieldOf(form, 'manifest'))
      return bodyOf(api.POST('/v1/sandbox/apps', { body: { origin: fieldOf(form, 'origin'), manifest } }))
    },
    { done: 'The draft is there. Install it to try it.', changes: ['apps'], onDone: onClose, showsFailures: true },
  )
  return (
    <AskDialog title="New draft of an app" submit="Create" action={create} onClose={onClose}>
      <label>
        Origin of the app
        <input name="origin" type="url" required placeholder="https://app.example.com" />
      </label>
      <label>
        Manifest (JSON)
        <textarea
          name="manifest"
          required
          rows={12}
          spellCheck={false}
          defaultValue={JSON.stringify(EXAMPLE, null, 2)}
        />
      </label>
    </AskDialog>
  )
}

/** The API checks what it says. */
function manifestOf(text: string): Manifest {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new Error(`The manifest is not JSON: ${cause instanceof Error ? cause.message : cause}`)
  }
}
