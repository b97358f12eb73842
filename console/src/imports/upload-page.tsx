import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { api, bodyOf, download } from '../api/client.ts'
import { textOf } from '../api/failure.ts'
import { Act, useAction } from '../parts/action.tsx'
import { Options, useFilters } from '../parts/filters.tsx'
import { useSay } from '../parts/messages.tsx'
import { Page, Section } from '../parts/page.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { FileChoice } from './file-choice.tsx'
import { headerOf, isForeign, type Template, templateHint, templateName, templateOf } from './templates.ts'

/** A file is chosen, then what it has; the API reads it and reports. Nothing is applied here. */
export function UploadPage() {
  const templates = useQuery({
    queryKey: ['imports', 'templates'],
    queryFn: () => bodyOf(api.GET('/v1/imports/templates')),
    staleTime: Number.POSITIVE_INFINITY,
  })
  return (
    <Page title="Import a file" above={<Link to="/imports">Imports</Link>} of={templates}>
      {(found) => <Upload templates={found.templates} />}
    </Page>
  )
}

interface Chosen {
  readonly file: File
  readonly header: readonly string[]
}

function Upload({ templates }: { readonly templates: readonly Template[] }) {
  const [search, change] = useFilters()
  const navigate = useNavigate()
  const say = useSay()
  const [chosen, setChosen] = useState<Chosen>()
  const [currency, setCurrency] = useState('')
  const template = templates.find(({ key }) => key === search.template)

  const choose = async (file: File) => {
    const header = await headerOf(file)
    setChosen({ file, header })
    const guess = templateOf(header, templates)
    if (guess !== undefined) change({ template: guess.key })
  }
  const upload = useAction(
    async ({ file, key }: { readonly file: File; readonly key: string }) => {
      // Of a file that cannot be sent the browser says no more than of a network that is gone.
      await headerOf(file)
      const form = new FormData()
      form.append('template', key)
      if (currency !== '') form.append('currency', currency)
      form.append('file', file)
      return bodyOf(api.POST('/v1/imports', { body: form as never, bodySerializer: () => form }))
    },
    {
      done: 'The file is uploaded.',
      changes: ['imports'],
      onDone: ({ id }) => navigate({ to: '/imports/$id', params: { id } }),
    },
  )
  return (
    <>
      <Section title="File">
        <FileChoice file={chosen?.file} onChoose={(file) => choose(file).catch((error) => say(textOf(error), true))} />
      </Section>
      <Section title="What is in it?">
        <label>
          The rows are
          <select value={template?.key ?? ''} onChange={({ target }) => change({ template: target.value })}>
            <option value="">choose</option>
            <Options of={templates.map(({ key }) => [key, templateName(key)])} />
          </select>
        </label>
        {template && <TemplateOf template={template} />}
        {template?.key === 'products' && chosen && isForeign(chosen.header, template) && (
          <label>
            Currency of the prices, for an export of Shopify or WooCommerce
            <input
              value={currency}
              placeholder="USD"
              maxLength={3}
              onChange={({ target }) => setCurrency(target.value.toUpperCase())}
            />
          </label>
        )}
      </Section>
      <div className="actions">
        <Act
          needs="import::create"
          className="primary"
          isBusy={upload.isPending}
          disabled={chosen === undefined || template === undefined}
          onAct={() => chosen && template && upload.mutate({ file: chosen.file, key: template.key })}
        >
          Upload and check
        </Act>
        <p className="quiet">The file is checked first. Nothing changes before you have seen what it would do.</p>
      </div>
      {upload.isPending && <progress aria-label="Upload" />}
    </>
  )
}

type TemplateColumn = Template['columns'][number]

const COLUMNS: readonly Column<TemplateColumn>[] = [
  { head: 'Column', cell: ({ name }) => <code>{name}</code> },
  { head: 'Needed', cell: ({ required }) => (required ? 'always' : '') },
  { head: 'What goes in', cell: (column) => <CellForm {...column} /> },
]

const FORMS: Readonly<Record<string, string>> = {
  string: 'text',
  integer: 'a whole number, such as 12',
  money: 'amounts in minor units, such as USD:1250 for USD 12.50',
  boolean: 'true or false',
  uuid: 'an id',
  datetime: 'a time, such as 2026-03-01T12:00:00Z',
  list: 'values with ; between them',
}

const CellForm = ({ type, enum: values, references }: TemplateColumn) => (
  <>
    {type === 'enum' ? values.join(', ') : (FORMS[type] ?? type)}
    {references && <span className="quiet"> of {references}</span>}
  </>
)

/** What the rows of a template are, with an example to begin with. */
const TemplateOf = ({ template: { key, file, columns } }: { readonly template: Template }) => {
  const example = useAction(() => download(`/v1/imports/templates/${key}.csv`, file), { done: 'The example is saved.' })
  return (
    <>
      <p className="quiet">
        {templateHint(key)} A row whose <code>{columns.find(({ required }) => required)?.name}</code> is there already
        changes it; an empty cell changes nothing.
      </p>
      <div className="actions">
        <button type="button" disabled={example.isPending} onClick={() => example.mutate()}>
          Download an example
        </button>
      </div>
      <details>
        <summary>All columns</summary>
        <Table label="Columns" rows={columns} keyOf={({ name }) => name} columns={COLUMNS} />
      </details>
    </>
  )
}
