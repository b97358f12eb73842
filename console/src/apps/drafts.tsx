import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api, bodyOf, type components } from '../api/client.ts'
import { FormButton, fieldOf } from '../parts/form-dialog.tsx'
import { Section } from '../parts/page.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { Badge, Long } from '../parts/text.tsx'

type Draft = components['schemas']['AppDraft']
type Manifest = components['schemas']['AppManifest']

const MOST = 100
const EXAMPLE: Manifest = { provider: 'my-app', name: 'My app', scopes: ['sale::read'], embed: '/embed' }

const COLUMNS: readonly Column<Draft>[] = [
  {
    head: 'Draft',
    cell: ({ id, name }) => (
      <Link to="/apps/drafts/$draft" params={{ draft: id }}>
        <Long text={name} isCut />
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
  const drafts = useQuery({
    queryKey: ['apps', 'drafts'],
    queryFn: () => bodyOf(api.GET('/v1/sandbox/apps', { params: { query: { limit: MOST } } })),
  })
  return (
    <Section title="Drafts of apps" actions={<NewDraft />} of={drafts}>
      {({ items }) => (
        <Table
          label="Drafts of apps"
          rows={items}
          columns={COLUMNS}
          empty="Try an app of your own here: give its address and its manifest, then install it."
        />
      )}
    </Section>
  )
}

const NewDraft = () => (
  <FormButton
    needs="app::create"
    title="New draft"
    submit="Create"
    done="The draft is there. Install it to try it."
    changes={['apps']}
    send={async (form) => {
      const manifest = manifestOf(fieldOf(form, 'manifest'))
      return bodyOf(api.POST('/v1/sandbox/apps', { body: { origin: fieldOf(form, 'origin'), manifest } }))
    }}
  >
    <label>
      Origin of the app
      <input name="origin" type="url" required placeholder="https://app.example.com" />
    </label>
    <label>
      Manifest (JSON)
      <textarea name="manifest" required rows={12} spellCheck={false} defaultValue={JSON.stringify(EXAMPLE, null, 2)} />
    </label>
  </FormButton>
)

/** The API checks what it says. */
function manifestOf(text: string): Manifest {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new Error(`The manifest is not JSON: ${cause instanceof Error ? cause.message : cause}`)
  }
}
