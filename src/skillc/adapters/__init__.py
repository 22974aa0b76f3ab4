"""Agent frameworks: a built agent's skills as the objects of the framework that runs it.

One module for each: `openai_agents`, `anthropic`, `langchain`, `pydantic_ai`, with the extra of that
name (`pip install 'skillc[openai-agents]'`). In all of them

    instructions(skills, "Be brief.")       is the system prompt: your words, the inventory, preloaded skills
    skill_tools(skills)                     are the tools, as the framework's own objects
    user_message(skills, "/pdf fill in")    is a message of the user with its references resolved

where `skills` is what `AgentFactory().build_agent()` gives. LangChain's `SkillsMiddleware` and
pydantic-ai's `SkillsCapability` are all three in one. `SkillToolset` lets any agent run the tools that
its skills declare.

A call that fails is a result that the model reads, marked as an error where the framework has a mark.
Events go to the observer that AgentFactory was given. The other rooms import nothing from here.
"""

from skillc.adapters.toolset import SkillToolset as SkillToolset
