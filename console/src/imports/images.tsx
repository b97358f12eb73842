import { useQuery } from '@tanstack/react-query'
import { api, bodyOf, type components } from '../api/client.ts'
import { Facts, Failure, Section } from '../parts/page.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { Id, Long } from '../parts/text.tsx'

type ImageFailure = components['schemas']['ImportImageFailure']

const LIVE_MS = 3_000

const COLUMNS: readonly Column<ImageFailure>[] = [
  { head: 'Image', cell: ({ url }) => <Long text={url} most={80} /> },
  { head: 'Why it failed', cell: ({ reason }) => <Long text={reason} /> },
  { head: 'Product', cell: ({ product }) => <Id id={product} /> },
]

/** What became of the images that the file names. They are fetched after the rows are applied. */
export function Images({ id }: { readonly id: string }) {
  const images = useQuery({
    queryKey: ['imports', id, 'images'],
    queryFn: () => bodyOf(api.GET('/v1/imports/{id}/images', { params: { path: { id } } })),
    refetchInterval: ({ state }) => (state.data?.waiting ? LIVE_MS : false),
  })
  if (images.isError) return <Failure error={images.error} retry={images.refetch} />
  const { waiting = 0, added = 0, failed = 0, failures = [] } = images.data ?? {}
  if (waiting + added + failed === 0) return null
  return (
    <Section title="Images">
      {waiting > 0 && <progress aria-label="Images" max={waiting + added + failed} value={added + failed} />}
      <Facts
        of={{ Added: added.toLocaleString(), Waiting: waiting.toLocaleString(), Failed: failed.toLocaleString() }}
      />
      {failures.length > 0 && (
        <Table
          label="Images that failed"
          rows={failures}
          keyOf={({ product, url }) => `${product} ${url}`}
          columns={COLUMNS}
        />
      )}
    </Section>
  )
}
