import { useQuery } from '@tanstack/react-query'
import { api, bodyOf, type components, type Tagged } from '../api/client.ts'
import { OpenButton } from '../parts/action.tsx'
import { Edit, type Field } from '../parts/edit.tsx'
import { Facts, Section } from '../parts/page.tsx'
import { Id, Long, Time } from '../parts/text.tsx'
import { useReads } from '../session/session.ts'
import { readProduct } from './edit-product.tsx'
import { PriceList } from './product.tsx'

type Settings = components['schemas']['ProductSettings']

/** The settings have the tag of the product. It is read first: what changes after it is refused. */
async function read(id: string): Promise<Tagged<Settings>> {
  const { tag } = await readProduct(id)
  return { body: await bodyOf(api.GET('/v1/products/{id}/settings', { params: { path: { id } } })), tag }
}

/** What only those see who may change the product. */
export function ProductSettings({ id }: { readonly id: string }) {
  const reads = useReads()
  return reads('product::update') && <ShownSettings id={id} />
}

function ShownSettings({ id }: { readonly id: string }) {
  const found = useQuery({ queryKey: ['products', id, 'settings'], queryFn: () => read(id) })
  return (
    <Section
      title="Settings"
      actions={
        found.data && (
          <OpenButton
            needs="product::update"
            opens={(close) => <EditSettings id={id} of={found.data} onClose={close} />}
          >
            Edit settings
          </OpenButton>
        )
      }
      of={found}
    >
      {({ body: settings }) => (
        <Facts
          of={{
            Tags: settings.tags.join(', '),
            'In URLs': settings.slug,
            'Low stock at': settings.low_stock_threshold,
            'Most in a cart': settings.max_cart_quantity,
            'Pre-orders until': settings.preorder_stops_at && <Time at={settings.preorder_stops_at} />,
            'Note for the buyer': settings.purchase_note && <Long text={settings.purchase_note} />,
            'Tax class': settings.tax_class && <Id id={settings.tax_class} />,
            Cost: <Costs of={settings} />,
          }}
        />
      )}
    </Section>
  )
}

const MOST_COSTS = 5

function Costs({ of: { variants } }: { readonly of: Settings }) {
  const known = variants.filter(({ cost }) => Object.keys(cost).length > 0)
  if (known.length === 0) return <span className="quiet">not known</span>
  if (variants.length === 1) return <PriceList min={known[0]?.cost ?? {}} />
  return (
    <span className="lines">
      {known.slice(0, MOST_COSTS).map(({ sku, cost }) => (
        <span key={sku}>
          {sku}: <PriceList min={cost} />
        </span>
      ))}
      {known.length > MOST_COSTS && <span className="quiet">and of {known.length - MOST_COSTS} more</span>}
    </span>
  )
}

const fieldsOf = (settings: Settings): readonly Field[] => [
  // A tag may have a comma in its name.
  { name: 'tags', label: 'Tags', value: settings.tags.join('\n'), isLong: true, hint: 'One a line.' },
  { name: 'slug', label: 'In URLs', value: settings.slug, input: { required: true, maxLength: 255 } },
  { ...numberField('low_stock_threshold', 'Low stock at', settings.low_stock_threshold), hint: 'Empty for none.' },
  { ...numberField('max_cart_quantity', 'Most in a cart', settings.max_cart_quantity), hint: 'Empty for no limit.' },
  { name: 'purchase_note', label: 'Note for the buyer', value: settings.purchase_note ?? '', isLong: true },
]

const numberField = (name: string, label: string, value: number | null): Field => ({
  name,
  label,
  value: value === null ? '' : String(value),
  input: { type: 'number', min: 0 },
})

const numberOf = (text: string) => (text === '' ? null : Number(text))

interface EditSettingsProps {
  readonly id: string
  readonly of: Tagged<Settings>
  readonly onClose: () => void
}

const EditSettings = ({ id, of, onClose }: EditSettingsProps) => (
  <Edit
    title="Edit settings"
    of={of}
    fieldsOf={fieldsOf}
    read={() => read(id)}
    save={({ changed }, tag) => {
      const { tags, slug, low_stock_threshold: low, max_cart_quantity: most, purchase_note: note } = changed
      const body = {
        ...(tags !== undefined && { tags: namesOf(tags) }),
        ...(slug !== undefined && { slug }),
        ...(low !== undefined && { low_stock_threshold: numberOf(low) }),
        ...(most !== undefined && { max_cart_quantity: numberOf(most) }),
        ...(note !== undefined && { purchase_note: note || null }),
      }
      return bodyOf(api.PUT('/v1/products/{id}', { params: { path: { id } }, headers: { 'if-match': tag }, body }))
    }}
    done="The settings are saved."
    changes={['products']}
    onClose={onClose}
  />
)

const namesOf = (text: string) =>
  text
    .split('\n')
    .map((name) => name.trim())
    .filter(Boolean)
