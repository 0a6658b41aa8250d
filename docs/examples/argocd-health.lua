-- Health of a ProductionStackStatus for Argo CD, which calls kinds that it does not know Healthy.
-- In the ConfigMap argocd-cm, under the key
-- resource.customizations.health.reporter.productionstack.kaito.sh_ProductionStackStatus
local status = obj.status or {}
if status.observedGeneration ~= obj.metadata.generation then
  return { status = "Progressing", message = "The reporter has not seen this generation yet" }
end
local conditions = {}
for _, condition in ipairs(status.conditions or {}) do
  conditions[condition.type] = condition
end
local function text(condition)
  local message = condition.message or ""
  if message == "" then
    return condition.reason
  end
  return condition.reason .. ": " .. message
end
local function is(kind, value)
  return conditions[kind] ~= nil and conditions[kind].status == value
end
if is("Stalled", "True") then
  return { status = "Degraded", message = text(conditions.Stalled) }
end
if is("Ready", "True") then
  return { status = "Healthy", message = status.state }
end
if conditions.Ready ~= nil then
  return { status = "Progressing", message = text(conditions.Ready) }
end
return { status = "Progressing", message = "The status has no condition Ready" }
